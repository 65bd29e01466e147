// Rolls out and withdraws revisions: writes what an operator wants, which the coordinator that leads reads before each round.

import type { KV } from "@nats-io/kv";
import { fail, refuse } from "../../errors/errors.js";
import { nameFrom } from "../../nats/names.js";
import { numberFrom, readOptions } from "../../nats/options.js";
import { importPackage } from "../../nats/packages.js";
import { digestOf } from "../digest.js";
import { kRolloutKey, namesOf } from "../names.js";
import type { RunRecord } from "../record.js";
import { configFrom, ownRevision, type RolloutWish, whyNoCandidate } from "../rollout.js";
import type { StoredObject } from "../stored_object.js";
import { noSuchRun, open, type Server, withServer } from "./administration.js";

/** Writes the revision that a share of the clients is to train. */
export function rollOutRun(given: unknown): Promise<void> {
  const where = "rollOutRun";
  const known = ["servers", "credentials", "run", "revision", "share", "config", "weights"];
  const options = readOptions(where, known, given);
  const { run, bucket } = namesOf(where, options.run);
  const revision = nameFrom(where, "revision", options.revision);
  const share = numberFrom(where, "share", options.share, { above: 0, most: 1 });
  const config = options.config === undefined ? null : configFrom(where, options.config);
  const bytes = options.weights ?? null;
  if (bytes !== null && !(bytes instanceof Uint8Array)) {
    return refuse(where, "weights", "the bytes of a safetensors file", typeof bytes);
  }
  return withServer(where, options, async (server) => {
    const { kv, record } = (await open(server, run)) ?? noSuchRun(where, run);
    const reason = whyNoCandidate(record, record.last?.epsilon !== undefined);
    if (reason !== null) {
      fail("InvalidArgument", where, `run "${run}" has one revision only: ${reason}.`);
    }
    const wish = await wishOf(kv);
    const current = nameOfOpen(record, wish);
    if (current !== null && current !== revision) {
      const message = `revision: "${current}" is being rolled out in "${run}"`;
      fail("InvalidArgument", where, `${message}. Withdraw it, or give it a share of 1.`);
    }
    if (ownRevision(record).name === revision) {
      fail("InvalidArgument", where, `revision: "${revision}" is that of run "${run}" already.`);
    }
    const isOpen = current === revision && wish !== null;
    if (isOpen && (config !== null || bytes !== null)) {
      const message = `revision: "${revision}" is rolled out, and only its share can change`;
      fail("InvalidArgument", where, `${message}. Give another revision another name.`);
    }
    const next: RolloutWish = isOpen
      ? { ...wish, share }
      : { revision, share, config, weights: bytes && (await put(server, bucket, bytes)) };
    await kv.put(kRolloutKey, JSON.stringify(next));
  });
}

/** Withdraws the revision that is being rolled out. */
export function withdrawRollout(given: unknown): Promise<void> {
  const where = "withdrawRollout";
  const options = readOptions(where, ["servers", "credentials", "run"], given);
  const { run } = namesOf(where, options.run);
  return withServer(where, options, async (server) => {
    const { kv, record } = (await open(server, run)) ?? noSuchRun(where, run);
    const wish = await wishOf(kv);
    if (wish === null || nameOfOpen(record, wish) === null) {
      fail("InvalidArgument", where, `no revision is being rolled out in run "${run}".`);
    }
    await kv.put(kRolloutKey, JSON.stringify({ ...wish, share: 0 }));
  });
}

/** The name of the revision that a share of the clients trains, or will from the next round on; null if there is none. */
function nameOfOpen({ rollout }: RunRecord, wish: RolloutWish | null): string | null {
  const isWanted = wish !== null && wish.share > 0 && wish.share < 1;
  return isWanted ? wish.revision : (rollout?.name ?? null);
}

async function wishOf(kv: KV): Promise<RolloutWish | null> {
  const entry = await kv.get(kRolloutKey);
  return entry === null || entry.operation !== "PUT" ? null : entry.json<RolloutWish>();
}

/** Stores the weights of a revision. */
async function put(
  { where, js }: Server,
  bucket: string,
  bytes: Uint8Array,
): Promise<StoredObject> {
  const { Objm } = await importPackage(where, () => import("@nats-io/obj"));
  const name = `revision-${globalThis.crypto.randomUUID().slice(0, 8)}`;
  const { nuid, chunks, size } = await (await new Objm(js).open(bucket)).putBlob({ name }, bytes);
  return { name, nuid, chunks, size, digest: await digestOf(bytes) };
}
