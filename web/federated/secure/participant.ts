// A client's side of one attempt at a secure round. It does not use the network, and answers each step of the coordinator once.

import { fail } from "../../errors/errors.js";
import { sha256 } from "../digest.js";
import {
  agree,
  areEqual,
  buffer,
  cipherKey,
  type KeyPair,
  kKeyBytes,
  materialOf,
  newKeyPair,
} from "./agreement.js";
import { addMask } from "./masks.js";
import {
  decodeAllShares,
  decodePeers,
  encodeKeys,
  encodeShares,
  encodeUnmask,
  kShareBytes,
  type Peers,
  type SharesOf,
} from "./messages.js";
import { boxPurpose, ownPurpose, pairPurpose, type Session, signOf } from "./purposes.js";
import { kMostSecureClients } from "./settings.js";
import { split } from "./sharing.js";

// Each key encrypts only one message.
const kNonce = new Uint8Array(12);

/** The shares that a client holds for another one. */
interface OwnShares {
  readonly seed: Uint8Array;
  readonly key: Uint8Array;
}

/** A client in an attempt at a round. */
export class Participant {
  readonly #seed = crypto.getRandomValues(new Uint8Array(kKeyBytes));
  #peers: Peers | null = null;
  #own: OwnShares | null = null;
  #shares: readonly SharesOf[] | null = null;
  #hasMasked = false;
  #answered: string | null = null;

  private constructor(
    readonly session: Session,
    readonly name: string,
    private readonly box: KeyPair,
    private readonly mask: KeyPair,
  ) {}

  static async begin(session: Session, name: string): Promise<Participant> {
    return new Participant(session, name, await newKeyPair(), await newKeyPair());
  }

  /** The message of the step "keys". */
  keys(): Uint8Array {
    return encodeKeys({ box: this.box.open, mask: this.mask.open });
  }

  /** Returns the message of the step "shares"; null if the round continues without this client. */
  async shares(bytes: Uint8Array): Promise<Uint8Array | null> {
    const read = decodePeers(bytes);
    if (read === null) this.#refuse("the keys of the clients are damaged");
    const { threshold, peers } = read;
    const place = peers.findIndex(({ client }) => client === this.name);
    const own = peers[place];
    if (own === undefined || this.#peers !== null) return null;
    // Other keys are those of this client before it was restarted.
    if (!areEqual(own.box, this.box.open) || !areEqual(own.mask, this.mask.open)) return null;
    // A majority is needed: otherwise two groups of clients could be asked for different kinds of shares.
    if (peers.length > kMostSecureClients || 2 * threshold <= peers.length) {
      this.#refuse(`${threshold} of ${peers.length} clients are to read updates, which is too few`);
    }
    if (threshold > peers.length) this.#refuse("more clients are to stay than there are");
    const seeds = split(this.#seed, peers.length, threshold);
    const keys = split(this.mask.secret, peers.length, threshold);
    this.#peers = read;
    this.#own = { seed: seeds[place] as Uint8Array, key: keys[place] as Uint8Array };
    return encodeShares({
      commitment: await sha256(this.#seed),
      boxes: await Promise.all(
        peers.map(({ client, box }, i) =>
          this.#seal(client, box, seeds[i] as Uint8Array, keys[i] as Uint8Array),
        ),
      ),
      seeds: await Promise.all(seeds.map(sha256)),
      keys: await Promise.all(keys.map(sha256)),
    });
  }

  /** Receives the shares of all clients; returns the number of clients, or null if the round continues without this client. */
  receive(bytes: Uint8Array): number | null {
    const { peers, threshold } = this.#peers ?? { peers: [], threshold: 0 };
    const shares = decodeAllShares(bytes, peers.length);
    if (this.#peers === null) return null;
    if (shares === null) this.#refuse("the shares of the clients are damaged");
    const areKnown = shares.every(({ client }) => peers.some((peer) => peer.client === client));
    if (!areKnown) this.#refuse("there are shares of clients without keys");
    if (!shares.some(({ client }) => client === this.name)) return null;
    if (shares.length < threshold) this.#refuse("too few clients have given shares");
    this.#shares = shares;
    return shares.length;
  }

  /** Masks integers in place; this is allowed only once. */
  async maskIntegers(integers: Uint32Array): Promise<void> {
    const { peers } = this.#peers ?? { peers: [] };
    const shares = this.#shares;
    if (shares === null || this.#hasMasked) this.#refuse("an update was asked for twice");
    this.#hasMasked = true;
    const own = await materialOf(this.#seed);
    await addMask(integers, own, ownPurpose(this.session), 1);
    for (const { client } of shares) {
      if (client === this.name) continue;
      const peer = peers.find((peer) => peer.client === client);
      const material = peer && (await agree(this.mask.secret, peer.mask));
      if (!material) this.#refuse(`"${client}" has a key that nobody can have`);
      await addMask(integers, material, pairPurpose(this.session), signOf(this.name, client));
    }
  }

  /**
   * Returns the message of the step "unmask": for clients whose updates have arrived, the shares of the seeds of their own masks; for the
   * others, the shares of their keys. Both for one client would reveal its update, so this throws if a second request differs.
   */
  async unmask(survivors: readonly string[]): Promise<Uint8Array | null> {
    if (this.#shares === null || !survivors.includes(this.name)) return null;
    const { threshold } = this.#peers as Peers;
    const asked = JSON.stringify(survivors);
    if (this.#answered !== null && this.#answered !== asked) {
      this.#refuse("it asked for a second kind of shares of a client");
    }
    if (!this.#hasMasked) this.#refuse("it asked for shares without an update");
    const all = this.#shares;
    const areKnown = survivors.every((name) => all.some(({ client }) => client === name));
    if (!areKnown || new Set(survivors).size !== survivors.length) {
      this.#refuse("it asked for shares of clients that are not in the round");
    }
    if (survivors.length < threshold) this.#refuse(`it asked for a sum of ${survivors.length}`);
    this.#answered = asked;
    const isThere = new Set(survivors);
    const given = all.map(async (shares) => {
      const opened = await this.#open(shares);
      return opened && (isThere.has(shares.client) ? opened.seed : opened.key);
    });
    return encodeUnmask(await Promise.all(given));
  }

  async #seal(to: string, box: Uint8Array, seed: Uint8Array, key: Uint8Array): Promise<Uint8Array> {
    const material = await agree(this.box.secret, box);
    if (material === null) this.#refuse(`"${to}" has a key that nobody can have`);
    const cipher = await cipherKey(material, "AES-GCM", boxPurpose(this.session, this.name, to));
    const text = Uint8Array.from([...seed, ...key]);
    const parameters = { name: "AES-GCM", iv: kNonce };
    return new Uint8Array(await crypto.subtle.encrypt(parameters, cipher, text));
  }

  /** Decrypts the shares that another client has sent to this one; null if they do not match that client's digests. */
  async #open({ client, boxes, seeds, keys }: SharesOf): Promise<OwnShares | null> {
    if (client === this.name) return this.#own;
    const { peers } = this.#peers as Peers;
    const place = peers.findIndex((peer) => peer.client === this.name);
    const { box } = peers.find((peer) => peer.client === client) as Peers["peers"][number];
    const material = await agree(this.box.secret, box);
    if (material === null) return null;
    const cipher = await cipherKey(
      material,
      "AES-GCM",
      boxPurpose(this.session, client, this.name),
    );
    let text: Uint8Array;
    try {
      const sealed = buffer(boxes[place] as Uint8Array);
      text = new Uint8Array(
        await crypto.subtle.decrypt({ name: "AES-GCM", iv: kNonce }, cipher, sealed),
      );
    } catch {
      return null;
    }
    const [seed, key] = [text.slice(0, kShareBytes), text.slice(kShareBytes)];
    const areThose =
      areEqual(await sha256(seed), seeds[place] as Uint8Array) &&
      areEqual(await sha256(key), keys[place] as Uint8Array);
    return areThose ? { seed, key } : null;
  }

  #refuse(what: string): never {
    const { run, round } = this.session;
    const advice = `"${this.name}" has left the run: its coordinator cannot be trusted.`;
    const message = `round ${round} of "${run}" is not secure: ${what}. ${advice}`;
    return fail("InvalidArgument", "join", message);
  }
}
