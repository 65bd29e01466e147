// The record of a run: the one value whose change moves the run on.

import type { SecureRecord } from "./secure/record.js";
import type { SecureSettings } from "./secure/settings.js";
import type { StoredObject } from "./stored_object.js";
import type { Compression } from "./update/compression.js";

/** What clients have to do besides training. */
export interface ClientSettings {
  /** FedProx's factor: half of it, times the squared distance from the round's weights, is added to the loss. */
  readonly mu?: number | undefined;
  /** Whether clients correct gradients by control variates, which are in the run's state. */
  readonly control?: boolean | undefined;
  /** How differences are compressed; without it, clients send their weights. */
  readonly compression?: Compression | undefined;
  /** How updates are written as integers and masked; without it, they are not. */
  readonly secure?: SecureSettings | undefined;
}

/** The part of the run's state that a round is about. */
export interface Fragment {
  readonly keys: readonly string[];
  /** What the round before has changed; null if that is all. */
  readonly weights: StoredObject | null;
}

/** What became of a round. */
export interface RoundSummary {
  /** The number of the round, from 1. */
  readonly round: number;
  /** The clients whose updates were counted, by name. */
  readonly clients: readonly string[];
  /** The sum of their samples. */
  readonly samples: number;
  /** The clients' metrics, each the mean over samples, and those of evaluate(). */
  readonly metrics: Readonly<Record<string, number>>;
  /** How many updates were refused, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** The bytes of the counted updates. */
  readonly bytesUp: number;
  /** The bytes of the weights, once for each selected client. */
  readonly bytesDown: number;
  /** From the opening of the round to its end, in milliseconds. */
  readonly time: number;
  /** The epsilon spent so far, if the run is private. */
  readonly epsilon?: number | undefined;
  /** Why attempts at this round have failed before, with secure aggregation. */
  readonly failures?: readonly string[] | undefined;
  /** The messages of the stream up to this one have been read. */
  readonly readTo: number;
}

/** A run's record. */
export interface RunRecord {
  readonly format: 1;
  /** How many coordinators have led, which fences off those that do no longer. */
  readonly term: number;
  readonly state: "waiting" | "open" | "finished";
  /** The round in progress, from 1; the last one when finished. */
  readonly round: number;
  readonly rounds: number;
  readonly strategy: string;
  readonly weights: StoredObject;
  /** Without it, rounds are about all of the run's state. */
  readonly fragment?: Fragment | undefined;
  /** The state of the strategy and of the accountant. */
  readonly progress: StoredObject;
  /** The clients of an open round. */
  readonly selected: readonly string[];
  /** With what probability each client was selected, and how many were expected to be. */
  readonly sampling: { readonly probability: number; readonly expected: number };
  /** When it was opened, and until when updates are waited for, in milliseconds since 1970. */
  readonly opened: number;
  readonly deadline: number;
  readonly client: ClientSettings;
  readonly secure?: SecureRecord | undefined;
  readonly last: RoundSummary | null;
}

/** Parses a record, which only coordinators can write. */
export function parseRecord(bytes: Uint8Array): RunRecord {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** The objects that a record names. */
export function objectsOf({ weights, progress, fragment, secure }: RunRecord): StoredObject[] {
  const { peers = null, shares = null } = secure?.step ?? {};
  const some = [weights, progress, fragment?.weights ?? null, peers, shares];
  return some.filter((one) => one !== null);
}
