// The state of secure aggregation in a run's record.

import type { StoredObject } from "../stored_object.js";
import type { Phase } from "./phases.js";

/** The current step of an open secure round. */
export interface SecureStep {
  readonly phase: Phase;
  /** The clients that have answered all previous steps, sorted by name; in the first step, all clients of the round. */
  readonly clients: readonly string[];
  /** The keys of all clients, from the step "shares" on. */
  readonly peers: StoredObject | null;
  /** The shares that they have sent, from the step "masked" on. */
  readonly shares: StoredObject | null;
  /** The bytes that clients have sent in the previous steps. */
  readonly bytes: number;
}

/** Secure aggregation in a run's record. */
export interface SecureRecord {
  /** The number of the attempt at the round, from 1; messages of other attempts are ignored. */
  readonly attempt: number;
  /** Why earlier attempts at this round failed. */
  readonly failures: readonly string[];
  /** Clients that have sent invalid shares, and no longer take part. */
  readonly excluded: readonly string[];
  /** The step of an open round. */
  readonly step: SecureStep | null;
}

/** The initial state. */
export const kFirstSecureRecord: SecureRecord = {
  attempt: 1,
  failures: [],
  excluded: [],
  step: null,
};

/** The first step of a round. */
export function firstStep(clients: readonly string[]): SecureStep {
  return { phase: "keys", clients, peers: null, shares: null, bytes: 0 };
}
