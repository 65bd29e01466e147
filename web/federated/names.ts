// All names of a run in NATS: buckets, streams, subjects and keys.

import { nameFrom } from "../nats/names.js";

/** The names of a run. */
export interface RunNames {
  readonly run: string;
  /** The key-value bucket, and the object bucket of the same name. */
  readonly bucket: string;
  /** The stream of the updates. */
  readonly updates: string;
  /** The stream behind the key-value bucket. */
  readonly keys: string;
  /** The stream behind the object bucket. */
  readonly objects: string;
  /** The subject on which a coordinator announces that it has written the record. */
  readonly changed: string;
  /** The subject on which a coordinator asks clients to announce themselves. */
  readonly who: string;
  /** The subject under which a client's updates are stored; "*" for those of all. Only coordinators write to it. */
  updatesOf(client: string): string;
  /** The subject of a client's requests; "*" for those of all. */
  asksOf(client: string): string;
  /** The subject on which a client announces itself; "*" for those of all. */
  presenceOf(client: string): string;
}

/** The key of a run's record. */
export const kRecordKey = "record";
/** The key of the leading coordinator's lease. */
export const kLeaderKey = "leader";

/** The key under which an operator tells the coordinators of a run what to do. */
export const kControlKey = "control";

/** The key of the revision that an operator has rolled out last. */
export const kRolloutKey = "rollout";

/** What the coordinators of a run are to do: to go on, to begin no more rounds, or to end after the round. */
export type Control = "running" | "paused" | "stopped";

/** Reads the value of that key. */
export function controlFrom(text: string | undefined): Control {
  return text === "paused" || text === "stopped" ? text : "running";
}

/** Returns the key of a round's entry in the history. */
export const historyKey = (round: number) => `round.${round}`;

/** Returns the names of a run; throws InvalidArgument unless its name can be part of a subject. */
export function namesOf(where: string, run: unknown): RunNames {
  const name = nameFrom(where, "run", run);
  const bucket = `edgegrad_${name}`;
  return {
    run: name,
    bucket,
    updates: bucket,
    keys: `KV_${bucket}`,
    objects: `OBJ_${bucket}`,
    changed: `edgegrad.${name}.changed`,
    who: `edgegrad.${name}.who`,
    updatesOf: (client) => `edgegrad.${name}.update.${client}`,
    asksOf: (client) => `edgegrad.${name}.ask.${client}`,
    presenceOf: (client) => `edgegrad.${name}.here.${client}`,
  };
}

/** Returns the last token of a subject, which is the name of the client. */
export function clientIn(subject: string): string {
  return subject.slice(subject.lastIndexOf(".") + 1);
}

/** The prefix of the subjects on which a client gets its answers; it may get them on no others. */
export const inboxOf = (client: string) => `_INBOX_${client}`;
