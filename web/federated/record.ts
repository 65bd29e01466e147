// The record of a run: all progress of the run is a write of this value.

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
  /** Why earlier attempts at this round failed, with secure aggregation. */
  readonly failures?: readonly string[] | undefined;
  /** The sequence number of the last message of the stream that has been read. */
  readonly readTo: number;
}

/** A run's record. */
export interface RunRecord {
  readonly format: 1;
  /** The number of coordinators that have led so far; it fences off former leaders. */
  readonly term: number;
  readonly state: "waiting" | "open" | "finished";
  /** The round in progress, from 1; the last one when finished. */
  readonly round: number;
  readonly rounds: number;
  readonly strategy: string;
  readonly weights: StoredObject;
  /** Without it, rounds train all of the run's state. */
  readonly fragment?: Fragment | undefined;
  /** The state of the strategy and of the accountant. */
  readonly progress: StoredObject;
  /** The clients of an open round. */
  readonly selected: readonly string[];
  /** The probability with which each client was selected, and the expected number of clients. */
  readonly sampling: { readonly probability: number; readonly expected: number };
  /** When the round was opened, and its deadline, in milliseconds since 1970. */
  readonly opened: number;
  readonly deadline: number;
  readonly client: ClientSettings;
  readonly secure?: SecureRecord | undefined;
  readonly last: RoundSummary | null;
}

/** Parses a record. It is trusted, because only coordinators can write it. */
export function parseRecord(bytes: Uint8Array): RunRecord {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** The objects that a record names. */
export function objectsOf({ weights, progress, fragment, secure }: RunRecord): StoredObject[] {
  const { peers = null, shares = null } = secure?.step ?? {};
  const some = [weights, progress, fragment?.weights ?? null, peers, shares];
  return some.filter((one) => one !== null);
}
