// What a run's record says of secure aggregation.

import type { StoredObject } from "../stored_object.js";
import type { Phase } from "./phases.js";

/** Where an open secure round is. */
export interface SecureStep {
  readonly phase: Phase;
  /** The clients that have answered every step before this one, in the order of their names; in the first step, all of the round. */
  readonly clients: readonly string[];
  /** The keys of all clients, from the step "shares" on. */
  readonly peers: StoredObject | null;
  /** The shares that they have given, from the step "masked" on. */
  readonly shares: StoredObject | null;
  /** The bytes that clients have sent in the steps before. */
  readonly bytes: number;
}

/** Secure aggregation in a run's record. */
export interface SecureRecord {
  /** The number of the attempt at the round, from 1: what belongs to another attempt is worth nothing. */
  readonly attempt: number;
  /** Why earlier attempts at this round have failed. */
  readonly failures: readonly string[];
  /** Clients that have given shares by which their updates cannot be read, and take part no more. */
  readonly excluded: readonly string[];
  /** The step of an open round. */
  readonly step: SecureStep | null;
}

/** What a run's record says at first. */
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
