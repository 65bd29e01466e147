// Revisions of a run: its weights, and the `config` that train() receives. A new one, the candidate, is trained by a share of the
// clients beside the run's own, until an operator makes it the run's or withdraws it.

import { refuse } from "../errors/errors.js";
import { isPlain } from "../nats/options.js";
import type { StoredObject } from "./stored_object.js";

/** What train() is given beside the weights: values that JSON has. */
export type TrainConfig = Readonly<Record<string, unknown>>;

/** A revision of a run. */
export interface Revision {
  /** Its name; "" for the one with which the run has begun. */
  readonly name: string;
  readonly config: TrainConfig;
}

/** A revision that a share of the clients trains. */
export interface Rollout extends Revision {
  /** The share of the clients, above 0 and below 1. */
  readonly share: number;
  readonly weights: StoredObject;
  readonly progress: StoredObject;
}

/** What an operator wants: a share of 0 withdraws the candidate, and 1 makes it the run's own. */
export interface RolloutWish {
  readonly revision: string;
  readonly share: number;
  /** Null: that of the run. */
  readonly config: TrainConfig | null;
  /** The weights with which the revision begins; null: those of the run. */
  readonly weights: StoredObject | null;
}

/** The part of a run's record that says what clients train. */
interface Trained {
  readonly weights: StoredObject;
  readonly revision?: Revision | undefined;
  readonly rollout?: Rollout | undefined;
}

const kFirst: Revision = { name: "", config: {} };
// The record has it, and is sent to all clients at each write.
const kMostConfigBytes = 16 * 1024;

/** The revision of the run itself. */
export const ownRevision = (record: Pick<Trained, "revision">) => record.revision ?? kFirst;

/** Whether a client trains the candidate. The same clients do in all rounds, and more of them when the share grows. */
export function trainsCandidate(rollout: Rollout | undefined, client: string): boolean {
  return rollout !== undefined && unitOf(`${rollout.name} ${client}`) < rollout.share;
}

/** What a client trains: the candidate or the run's own revision. */
export function revisionFor(record: Trained, client: string): Revision & Pick<Rollout, "weights"> {
  const { rollout, weights } = record;
  if (rollout !== undefined && trainsCandidate(rollout, client)) return rollout;
  return { ...ownRevision(record), weights };
}

/** Returns why a run can have no candidate; null if it can. */
export function whyNoCandidate(
  {
    secure,
    fragment,
    client,
  }: {
    readonly secure?: unknown;
    readonly fragment?: unknown;
    readonly client: { readonly control?: boolean | undefined };
  },
  isPrivate: boolean,
): string | null {
  if (secure !== undefined) return "its updates are masked, and there is one sum of them";
  if (isPrivate) return "it is private, and each of two groups would have an epsilon of its own";
  if (fragment !== undefined) return "it trains fragments in turn";
  return client.control ? "its clients keep control variates of its own weights" : null;
}

/** Checks that an option can be the config of a revision; throws InvalidArgument otherwise. */
export function configFrom(where: string, value: unknown): TrainConfig {
  const expected = `an object of values that JSON has, of at most ${kMostConfigBytes / 1024} kB`;
  if (!isPlain(value)) refuse(where, "config", expected, value);
  let text = "";
  try {
    text = JSON.stringify(value);
  } catch {
    refuse(where, "config", expected, "a value that JSON cannot have");
  }
  if (text.length > kMostConfigBytes) refuse(where, "config", expected, `${text.length} bytes`);
  return JSON.parse(text) as TrainConfig;
}

/** A number from 0 to 1 that depends on a text only: FNV-1a, and the end of MurmurHash3, by which similar names are far apart. */
function unitOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
