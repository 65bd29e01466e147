// A client of secure rounds that is written a second time, with Node's cryptography and without edgegrad's: it must agree with the others
// in every bit. Tests replace what it says at a step, to have it lie or fall silent.

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
} from "node:crypto";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { headers } from "@nats-io/nats-core";
import { Objm } from "@nats-io/obj";
import { connect } from "@nats-io/transport-node";
import { until } from "../../support/until.mjs";
import { leaveAtEnd } from "./leaving.mjs";
import { otherCoordinator } from "./other_coordinator.mjs";

// The server's answers are late on a busy machine only.
const kMost = 120_000; // ms

const sha256 = (bytes) => createHash("sha256").update(bytes).digest();
const text = (bytes) => Buffer.from(bytes).toString("base64");
const bytesOf = (base64) => Buffer.from(base64, "base64");

/** The product of two elements of the field of 256, bit by bit. */
function times(a, b) {
  let product = 0;
  for (let bit = 0; bit < 8; bit++) {
    if ((b >> bit) & 1) product ^= a << bit;
  }
  for (let bit = 15; bit >= 8; bit--) {
    if ((product >> bit) & 1) product ^= 0x11b << (bit - 8);
  }
  return product;
}

/** The shares of a secret: the values of polynomials at 1, 2... */
export function split(secret, count, threshold) {
  const rows = Array.from({ length: threshold - 1 }, () => randomBytes(secret.length));
  return Array.from({ length: count }, (_, owner) =>
    Buffer.from(secret, 0).map((byte, i) => {
      let power = 1;
      let value = byte;
      for (const row of rows) {
        power = times(power, owner + 1);
        value ^= times(row[i], power);
      }
      return value;
    }),
  );
}

const rawOf = (key) => bytesOf(key.export({ format: "jwk" }).x);
const openKey = (raw) =>
  createPublicKey({
    format: "jwk",
    key: { kty: "OKP", crv: "X25519", x: raw.toString("base64url") },
  });
const secretBytes = (key) => bytesOf(key.export({ format: "jwk" }).d);

function keyFor(material, cipher, purpose) {
  const info = `edgegrad ${cipher} ${purpose}`;
  return Buffer.from(hkdfSync("sha256", material, Buffer.alloc(0), info, 32));
}

function addMask(integers, material, purpose, sign) {
  const cipher = createCipheriv(
    "aes-256-ctr",
    keyFor(material, "AES-CTR", purpose),
    Buffer.alloc(16),
  );
  const stream = cipher.update(Buffer.alloc(4 * integers.length));
  for (let i = 0; i < integers.length; i++) integers[i] += sign * stream.readInt32LE(4 * i);
}

function seal(key, plain) {
  const cipher = createCipheriv("aes-256-gcm", key, Buffer.alloc(12));
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function open(key, sealed) {
  const cipher = createDecipheriv("aes-256-gcm", key, Buffer.alloc(12));
  cipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
}

/** One attempt at a round. */
class Attempt {
  box = generateKeyPairSync("x25519");
  mask = generateKeyPairSync("x25519");
  seed = randomBytes(32);

  constructor(run, round, attempt, name) {
    Object.assign(this, { session: `${run} ${round} ${attempt}`, name });
  }

  agree(pair, raw) {
    return diffieHellman({ privateKey: pair.privateKey, publicKey: openKey(raw) });
  }

  boxKey({ box }, from, to) {
    const material = this.agree(this.box, bytesOf(box));
    return keyFor(material, "AES-GCM", `shares ${this.session} ${from} ${to}`);
  }

  keys() {
    return { box: text(rawOf(this.box.publicKey)), mask: text(rawOf(this.mask.publicKey)) };
  }

  shares({ threshold, peers }) {
    this.peers = peers;
    const seeds = split(this.seed, peers.length, threshold);
    const keys = split(secretBytes(this.mask.privateKey), peers.length, threshold);
    const boxes = peers.map((peer, i) =>
      seal(this.boxKey(peer, this.name, peer.client), Buffer.concat([seeds[i], keys[i]])),
    );
    return {
      commitment: text(sha256(this.seed)),
      boxes: boxes.map(text),
      seeds: seeds.map((one) => text(sha256(one))),
      keys: keys.map((one) => text(sha256(one))),
    };
  }

  /** The masked integers of an update of differences with samples. */
  masked({ shares }, { differences, samples, settings }) {
    this.given = shares;
    const steps =
      (2 ** 31 - 1 - shares.length) / (shares.length * settings.range * settings.samples);
    const integers = Uint32Array.from([
      ...differences.map((one) => Math.round(one * samples * steps)),
      samples,
    ]);
    addMask(integers, this.seed, `own ${this.session}`, 1);
    for (const { client } of shares) {
      if (client === this.name) continue;
      const { mask } = this.peers.find((peer) => peer.client === client);
      const material = this.agree(this.mask, bytesOf(mask));
      addMask(integers, material, `pair ${this.session}`, this.name < client ? 1 : -1);
    }
    return Buffer.from(integers.buffer);
  }

  unmask(survivors) {
    const place = this.peers.findIndex(({ client }) => client === this.name);
    const shares = this.given.map(({ client, boxes }) => {
      const peer = this.peers.find((one) => one.client === client);
      const plain = open(this.boxKey(peer, client, this.name), bytesOf(boxes[place]));
      const isThere = survivors.includes(client);
      return text(isThere ? plain.subarray(0, 32) : plain.subarray(32));
    });
    return { shares };
  }
}

/**
 * Takes part in a run with an update that is always the same. `change[phase](answer, attempt)` returns what is sent in place of an answer; null: nothing.
 */
export async function secureClient({ servers, run, name, differences, samples = 1, change = {} }) {
  const connection = await connect({ servers });
  const js = jetstream(connection, { timeout: kMost });
  const jsm = await jetstreamManager(connection);
  const kv = await new Kvm(js).open(`edgegrad_${run}`);
  const objects = await new Objm(js).open(`edgegrad_${run}`);
  const here = (said = "here") => {
    if (connection.isDraining() || connection.isClosed()) return;
    connection.publish(`edgegrad.${run}.here.${name}`, `${said} second`);
  };
  const timer = setInterval(() => here(), 500); // timer: a sign of life
  connection.subscribe(`edgegrad.${run}.who`, { callback: () => here() });
  void connection.closed().then(() => clearInterval(timer));
  leaveAtEnd(() => connection.close());
  let attempt = null;
  let done = "";
  let ids = 0;

  async function send(round, phase, number, value) {
    const bytes = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
    const head = headers();
    head.set("EdgeGrad-Round", `${round}`);
    head.set("EdgeGrad-Part", "0/1");
    head.set("EdgeGrad-Digest", sha256(bytes).toString("hex"));
    head.set("EdgeGrad-Phase", `${number} ${phase}`);
    const options = { headers: head, msgID: `${run}${name}${ids++}` };
    await js.publish(`edgegrad.${run}.update.${name}`, bytes, options);
  }

  async function answer({ round, client, secure: { attempt: number, step } }) {
    const read = async ({ name: object }) =>
      JSON.parse(Buffer.from(await objects.getBlob(object)).toString());
    const { phase, clients, peers, shares } = step;
    if (phase === "keys") attempt = new Attempt(run, round, number, name);
    const make = {
      keys: async () => attempt.keys(),
      shares: async () => attempt.shares(await read(peers)),
      masked: async () =>
        attempt.masked(await read(shares), { differences, samples, settings: client.secure }),
      unmask: async () => attempt.unmask(clients),
    };
    const made = await make[phase]();
    const sent = phase in change ? change[phase](made, number) : made;
    if (sent !== null) await send(round, phase, number, sent);
  }

  const watch = await kv.watch({ key: "record" });
  here();
  const finished = (async () => {
    for await (const entry of watch) {
      const record = entry.json();
      if (record.state === "finished") break;
      const step = record.state === "open" ? record.secure.step : null;
      const key = `${record.round} ${record.secure.attempt} ${step?.phase}`;
      if (!step?.clients.includes(name) || key === done) continue;
      done = key;
      await answer(record);
    }
  })();
  finished.catch(() => {});
  return {
    finished,
    /** Sends clients another record than that of the run, as a coordinator could, and gives them the run's objects. */
    async replaceRecord(change) {
      const other = await otherCoordinator({ connection, js, run });
      await other.answer();
      await other.announce(change);
    },
    /** Resolves when the server has messages of clients about a step of the first attempt. */
    haveAnswered: (clients, phase) =>
      until(`messages of ${clients} for the step "${phase}"`, async () => {
        const last = await Promise.all(
          clients.map((client) =>
            jsm.direct.getMessage(`edgegrad_${run}`, {
              last_by_subj: `edgegrad.${run}.update.${client}`,
            }),
          ),
        );
        return last.every((message) => message?.header.get("EdgeGrad-Phase") === `1 ${phase}`);
      }),
    async close() {
      here("gone");
      await connection.drain();
    },
  };
}
