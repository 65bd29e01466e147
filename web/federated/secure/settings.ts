// The option `secureAggregation` of serve(), and the settings that clients need.

import { numberFrom, readOptions } from "../../nats/options.js";

/** Secure aggregation: clients mask their updates, so that only their sum can be read (Bonawitz et al. 2017). */
export interface SecureAggregation {
  /** A round needs more than this fraction of its clients to stay, and no group of up to this fraction can read an update; at least 0.5, the default. */
  readonly threshold?: number | undefined;
  /** The largest change of a single weight in a round; a client whose update exceeds it does not send it. Default 8. */
  readonly range?: number | undefined;
  /** The time that the steps before and after training wait for messages, in milliseconds; default 10,000. */
  readonly handshake?: number | undefined;
}

/** The checked option `secureAggregation`. */
export type ReadSecureAggregation = Required<{
  [Key in keyof SecureAggregation]: NonNullable<SecureAggregation[Key]>;
}>;

/** The settings with which clients encode their updates as integers. */
export interface SecureSettings {
  readonly range: number;
  /** The maximum number of samples of an update. */
  readonly samples: number;
}

/** The maximum number of clients in a round: shares are numbered by nonzero bytes. */
export const kMostSecureClients = 255;
/** The default of `limits.samples`: more samples leave fewer bits for the weights. */
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

/** The number of clients that must stay to the end of a round. */
export function thresholdOf(clients: number, share: number, least: number): number {
  return Math.max(Math.floor(clients * share) + 1, least);
}
