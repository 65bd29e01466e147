// The option `secureAggregation` of serve(), and what clients need to know of it.

import { numberFrom, readOptions } from "../../nats/options.js";

/** Secure aggregation: clients mask their updates, so that only the sum of all can be read (Bonawitz et al. 2017). */
export interface SecureAggregation {
  /** A round needs more than this share of its clients to the end, and no group up to it can read an update; default 0.5, the least. */
  readonly threshold?: number | undefined;
  /** How far training may move a single weight; a client whose update goes beyond does not send it. Default 8. */
  readonly range?: number | undefined;
  /** How long the steps before and after training wait for messages, in milliseconds; default 10,000. */
  readonly handshake?: number | undefined;
}

/** The option `secureAggregation`, checked. */
export type ReadSecureAggregation = Required<{
  [Key in keyof SecureAggregation]: NonNullable<SecureAggregation[Key]>;
}>;

/** What clients need to know to write their updates as integers. */
export interface SecureSettings {
  readonly range: number;
  /** The most samples of an update. */
  readonly samples: number;
}

/** The most clients of a round: the places of shares are bytes other than 0. */
export const kMostSecureClients = 255;
/** The samples that an update may count for, unless `limits.samples` says otherwise: more samples leave fewer bits for the weights. */
export const kUsualSecureSamples = 10_000;

const kMostRange = 1e6;
const kMostMs = 2 ** 31 - 1;

/** Checks the option `secureAggregation`. */
export function readSecureAggregation(
  where: string,
  given: unknown,
): ReadSecureAggregation | undefined {
  if (given === undefined) return undefined;
  const known = ["threshold", "range", "handshake"];
  const { threshold = 0.5, range = 8, handshake = 10_000 } = readOptions(where, known, given);
  const name = (option: string) => `secureAggregation.${option}`;
  return {
    threshold: numberFrom(where, name("threshold"), threshold, { least: 0.5, below: 1 }),
    range: numberFrom(where, name("range"), range, { above: 0, most: kMostRange }),
    handshake: numberFrom(where, name("handshake"), handshake, { above: 0, most: kMostMs }),
  };
}

/** How many of some clients must stay to the end. */
export function thresholdOf(clients: number, share: number, least: number): number {
  return Math.max(Math.floor(clients * share) + 1, least);
}
