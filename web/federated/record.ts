// The record of a run: all progress of the run is a write of this value.

import { fail } from "../errors/errors.js";
import { isPlain } from "../nats/options.js";
import type { Revision, Rollout } from "./rollout.js";
import type { SecureRecord } from "./secure/record.js";
import type { SecureSettings } from "./secure/settings.js";
import type { StoredObject } from "./stored_object.js";
import type { Compression } from "./update/compression.js";

/** What a run asks of its clients in addition to training. */
export interface ClientSettings {
  /** FedProx's factor: mu / 2 times the squared distance from the round's weights is added to the loss. */
  readonly mu?: number | undefined;
  /** Whether clients correct gradients by control variates, which are in the run's state. */
  readonly control?: boolean | undefined;
  /** The compression of differences; without it, clients send their weights. */
  readonly compression?: Compression | undefined;
  /** The settings of secure aggregation; without them, updates are not masked. */
  readonly secure?: SecureSettings | undefined;
}

/** The part of the run's state that a round trains. */
export interface Fragment {
  readonly keys: readonly string[];
  /** The part that the previous round has changed; null if it changed everything. */
  readonly weights: StoredObject | null;
}

/** The outcome of a round for a revision that a share of the clients trains. */
export interface RolloutSummary extends Pick<RoundSummary, "clients" | "samples" | "metrics"> {
  /** The name of the revision. */
  readonly revision: string;
  /** The share of the clients that it is given to. */
  readonly share: number;
}

/** The outcome of a round. */
export interface RoundSummary {
  /** The number of the round, from 1. */
  readonly round: number;
  /** The clients whose updates were counted, by name. */
  readonly clients: readonly string[];
  /** The sum of their samples. */
  readonly samples: number;
  /** The clients' metrics, each the mean over samples, and those of evaluate(). */
  readonly metrics: Readonly<Record<string, number>>;
  /** The number of refused updates by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** The bytes of the counted updates. */
  readonly bytesUp: number;
  /** The bytes of the weights, once for each selected client. */
  readonly bytesDown: number;
  /** The duration of the round in milliseconds. */
  readonly time: number;
  /** The epsilon spent so far, if the run is private. */
  readonly epsilon?: number | undefined;
  /** What the clients have come to that train a revision which is rolled out; their updates do not change the run's weights. */
  readonly rollout?: RolloutSummary | undefined;
  /** Why earlier attempts at this round failed, with secure aggregation. */
  readonly failures?: readonly string[] | undefined;
  /** The sequence number of the last message of the stream that has been read. */
  readonly readTo: number;
}

/** The weights after an earlier round, to which an operator may go back. */
export interface KeptRound {
  readonly round: number;
  readonly weights: StoredObject;
  readonly progress: StoredObject;
  readonly summary: RoundSummary;
  readonly revision?: Revision | undefined;
  /** Whether it is the best one so far by the metric of serve({ keepBest }). */
  readonly isBest?: boolean | undefined;
}

/** A run's record. */
export interface RunRecord {
  readonly format: 2;
  /** A number of this run that no other run has, also not a later one of the same name. */
  readonly id: string;
  /** The number of coordinators that have led so far; it fences off former leaders. */
  readonly term: number;
  /** Whether it waits for clients, a round is open, or all rounds are over. */
  readonly state: "waiting" | "open" | "finished";
  /** The round in progress, from 1; the last one when finished. */
  readonly round: number;
  /** How many rounds the run has. */
  readonly rounds: number;
  /** The name of the strategy that combines updates. */
  readonly strategy: string;
  readonly weights: StoredObject;
  /** Without it, rounds train all of the run's state. */
  readonly fragment?: Fragment | undefined;
  /** The state of the strategy and of the accountant. */
  readonly progress: StoredObject;
  /** The revision of these weights; without it, that with which the run has begun, and no config. */
  readonly revision?: Revision | undefined;
  /** A revision that a share of the clients trains. */
  readonly rollout?: Rollout | undefined;
  /** The clients of an open round. */
  readonly selected: readonly string[];
  /** The probability with which each client was selected, and the expected number of clients. */
  readonly sampling: { readonly probability: number; readonly expected: number };
  /** How often the round was opened, from 1: it is opened again if it is given up. */
  readonly attempt: number;
  /** How often the deadline of this attempt has been extended. */
  readonly extensions: number;
  /** The milliseconds since the round was opened and until its deadline, both at the time of this write: clocks need not agree. */
  readonly spent: number;
  readonly deadline: number;
  readonly client: ClientSettings;
  readonly secure?: SecureRecord | undefined;
  /** The weights after earlier rounds that are kept, by round. */
  readonly kept: readonly KeptRound[];
  readonly last: RoundSummary | null;
}

/** The format of the record. */
export const kFormat = 2;

/** Parses the record of a run; throws InvalidArgument if the bytes are none. */
export function parseRecord(where: string, run: string, bytes: Uint8Array): RunRecord {
  const value = read(bytes);
  const format = value?.format;
  if (typeof format === "number" && format !== kFormat) {
    const message = `run "${run}" is of format ${format}, and this version reads ${kFormat}`;
    fail("InvalidArgument", where, `${message}. Begin another run, or delete this one.`);
  }
  if (value !== null && isRecord(value)) return value as unknown as RunRecord;
  const advice = "Something else has written it; check who may, and delete the run.";
  return fail("InvalidArgument", where, `the record of run "${run}" is not one. ${advice}`);
}

function read(bytes: Uint8Array): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isPlain(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: Readonly<Record<string, unknown>>): boolean {
  const { state, selected, client, kept, last } = value;
  const rollout = value.rollout as Partial<Rollout> | null | undefined;
  const numbers = ["term", "round", "rounds", "attempt", "extensions", "spent", "deadline"];
  const isOptional = (item: unknown) => item === undefined || isPlain(item);
  return (
    numbers.every((name) => Number.isFinite(value[name])) &&
    ["waiting", "open", "finished"].some((word) => word === state) &&
    typeof value.id === "string" &&
    typeof value.strategy === "string" &&
    Array.isArray(kept) &&
    kept.every((checkpoint) => isObject(checkpoint?.weights) && isObject(checkpoint?.progress)) &&
    Array.isArray(selected) &&
    selected.every((known) => typeof known === "string") &&
    isObject(value.weights) &&
    isObject(value.progress) &&
    isPlain(client) &&
    isPlain(value.sampling) &&
    (last === null || isPlain(last)) &&
    isOptional(value.secure) &&
    isOptional(value.fragment) &&
    isOptional(value.revision) &&
    (rollout === undefined || (isObject(rollout?.weights) && isObject(rollout?.progress)))
  );
}

function isObject(value: unknown): boolean {
  if (!isPlain(value)) return false;
  const { name, nuid, digest, chunks, size } = value;
  const areTexts = [name, nuid, digest].every((text) => typeof text === "string");
  return (
    areTexts && [chunks, size].every((count) => Number.isSafeInteger(count) && Number(count) >= 0)
  );
}

/** The objects that a record names. */
export function objectsOf({
  weights,
  progress,
  fragment,
  secure,
  rollout,
  kept,
}: RunRecord): StoredObject[] {
  const { peers = null, shares = null } = secure?.step ?? {};
  const own = [weights, progress, fragment?.weights ?? null, peers, shares];
  const some = [...own, rollout?.weights ?? null, rollout?.progress ?? null];
  const earlier = kept.flatMap((checkpoint) => [checkpoint.weights, checkpoint.progress]);
  return [...some.filter((object) => object !== null), ...earlier];
}
