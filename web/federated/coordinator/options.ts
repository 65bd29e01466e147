// The options of serve().

import type { nn } from "edgegrad";
import { fail, refuse } from "../../errors/errors.js";
import type { Credentials } from "../../nats/connection.js";
import {
  functionFrom,
  integerFrom,
  numberFrom,
  optionalFunction,
  readOptions,
} from "../../nats/options.js";
import type { MemoryNetwork } from "../memory/network.js";
import { namesOf, type RunNames } from "../names.js";
import { type Privacy, type ReadPrivacy, readPrivacy } from "../privacy/noise.js";
import type { RoundSummary } from "../record.js";
import {
  type ReadSecureAggregation,
  readSecureAggregation,
  type SecureAggregation,
} from "../secure/settings.js";
import { Strategy } from "../strategies/strategy.js";
import { type Place, readPlace } from "../transport.js";
import { type Compression, type ReadCompression, readCompression } from "../update/compression.js";

/** What is accepted from clients; whatever is beyond is refused and counted. */
export interface Limits {
  /** The bytes of an update; default twice those of the weights, and 64 kB. */
  readonly updateBytes?: number | undefined;
  /** The messages of one client in a round, which the server itself enforces; default four times those of an update. */
  readonly messages?: number | undefined;
  /** The bytes of all updates that the server keeps; default 1 GiB. */
  readonly streamBytes?: number | undefined;
  /** How far an update may be from the round's weights, as a Euclidean norm; default 100 times the norm of the first weights, at least 100. */
  readonly norm?: number | undefined;
  /** The samples that an update may count for; default 1e9. */
  readonly samples?: number | undefined;
  /** The clients that are known at once; default 10,000. */
  readonly clients?: number | undefined;
}

/** What evaluate() gets. */
export interface EvaluateInput {
  /** A model with the weights after the round. */
  readonly model: nn.Module;
  /** The number of the round, from 1. */
  readonly round: number;
}

/** What onFailure() gets. */
export interface RoundFailure {
  /** The number of the round, from 1. */
  readonly round: number;
  /** The number of the attempt at it, from 1. */
  readonly attempt: number;
  /** Why it has failed. */
  readonly message: string;
}

/** Options of `serve`. */
export interface ServeOptions {
  /** Addresses of NATS servers: nats:, tls:, ws: or wss:; or memory, for clients in the same page or process. */
  readonly servers: string | readonly string[] | MemoryNetwork;
  /** How the coordinator proves who it is; default: the server asks for nothing. */
  readonly credentials?: Credentials | undefined;
  /** The name of the run: letters, digits, hyphens and underscores. With the same name it goes on where it was. */
  readonly run: string;
  /** Makes the model; its initial weights are those of the first round. */
  readonly model: () => nn.Module;
  /** How updates become the next weights. */
  readonly strategy: Strategy;
  /** How many rounds the run has; more than before continue a run that has finished. */
  readonly rounds: number;
  /** The fewest clients with which a round begins. */
  readonly minClients: number;
  /** The fewest updates with which a round ends when its deadline has passed, instead of being extended; default minClients. */
  readonly minUpdates?: number | undefined;
  /** How many clients take part in a round, chosen at random; default all that are there. */
  readonly clientsPerRound?: number | undefined;
  /** How long a round waits for updates, in milliseconds. */
  readonly deadline: number;
  /** The seed of the initial weights and of the choice of clients; default 0. */
  readonly seed?: number | undefined;
  /** Returns metrics of the weights after a round, which the history shows. */
  readonly evaluate?:
    | ((input: EvaluateInput) => Record<string, number> | Promise<Record<string, number>>)
    | undefined;
  /** Called after each round. A round that ends when this coordinator is killed may be reported twice or not at all. */
  readonly onRound?: ((summary: RoundSummary) => void) | undefined;
  /** The limits for what one client may send. */
  readonly limits?: Limits | undefined;
  /** How clients compress their updates; default not at all. */
  readonly compression?: Compression | undefined;
  /** Clips updates and adds noise, and reports epsilon. */
  readonly privacy?: Privacy | undefined;
  /** Has clients mask their updates, so that the coordinator sees their sum only; default not. Cannot be had with compression or privacy. */
  readonly secureAggregation?: SecureAggregation | undefined;
  /** Called when an attempt at a round has failed, which secure aggregation tells; the round is then opened again. */
  readonly onFailure?: ((failure: RoundFailure) => void) | undefined;
  /** After how many milliseconds without a sign of the coordinator that leads another one takes over; default 3000. */
  readonly lease?: number | undefined;
}

/** The options, checked. */
export interface ReadServeOptions {
  readonly place: Place;
  readonly names: RunNames;
  readonly model: () => nn.Module;
  readonly strategy: Strategy;
  readonly rounds: number;
  readonly minClients: number;
  readonly minUpdates: number;
  readonly clientsPerRound: number | undefined;
  readonly deadline: number;
  readonly seed: number;
  readonly evaluate: ServeOptions["evaluate"];
  readonly onRound: ServeOptions["onRound"];
  readonly limits: Limits;
  readonly compression: ReadCompression | undefined;
  readonly privacy: ReadPrivacy | undefined;
  readonly secure: ReadSecureAggregation | undefined;
  readonly onFailure: ServeOptions["onFailure"];
  readonly lease: number;
}

const kWhere = "serve";
const kOptions = [
  "servers",
  "credentials",
  "run",
  "model",
  "strategy",
  "rounds",
  "minClients",
  "minUpdates",
  "clientsPerRound",
  "deadline",
  "seed",
  "evaluate",
  "onRound",
  "limits",
  "compression",
  "privacy",
  "secureAggregation",
  "onFailure",
  "lease",
];
const kLimits = ["updateBytes", "messages", "streamBytes", "norm", "samples", "clients"];
// The longest time that setTimeout() waits.
const kMostMs = 2 ** 31 - 1;

/** Checks the options of a call. */
export function readServeOptions(given: unknown): ReadServeOptions {
  const options = readOptions(kWhere, kOptions, given);
  const { strategy } = options;
  if (!(strategy instanceof Strategy)) {
    refuse(kWhere, "strategy", "a strategy such as new FedAvg()", strategy);
  }
  const minClients = integerFrom(kWhere, "minClients", options.minClients, { least: 1 });
  const minUpdates = integerFrom(kWhere, "minUpdates", options.minUpdates ?? minClients, {
    least: 1,
    most: minClients,
  });
  const privacy = readPrivacy(kWhere, options.privacy);
  const { name } = strategy.constructor;
  if (strategy.fewestUpdates > minUpdates) {
    const needed = `${name} needs ${strategy.fewestUpdates} updates`;
    fail("InvalidArgument", kWhere, `minUpdates: ${needed}, got ${minUpdates}.`);
  }
  const secure = readSecureAggregation(kWhere, options.secureAggregation);
  if (!strategy.takesMean) {
    const advice = "Use FedAvg, FedProx, FedAdam, FedYogi or DiLoCo.";
    for (const [option, value] of Object.entries({ privacy, secureAggregation: secure })) {
      if (value === undefined) continue;
      const message = `${option}: ${name} needs the updates, not their mean. ${advice}`;
      fail("InvalidArgument", kWhere, message);
    }
  }
  const compression = readCompression(kWhere, options.compression);
  if (secure !== undefined) {
    const message = checkCombination({ compression, privacy, minUpdates });
    if (message !== null) fail("InvalidArgument", kWhere, `secureAggregation: ${message}`);
  }
  const { clientsPerRound, seed, lease = 3000 } = options;
  return {
    place: readPlace(kWhere, options.servers, options.credentials),
    names: namesOf(kWhere, options.run),
    model: functionFrom(kWhere, "model", options.model),
    strategy,
    rounds: integerFrom(kWhere, "rounds", options.rounds, { least: 1 }),
    minClients,
    minUpdates,
    clientsPerRound:
      clientsPerRound === undefined
        ? undefined
        : integerFrom(kWhere, "clientsPerRound", clientsPerRound, { least: minClients }),
    deadline: numberFrom(kWhere, "deadline", options.deadline, { above: 0, most: kMostMs }),
    seed: integerFrom(kWhere, "seed", seed ?? 0, { least: 0 }),
    evaluate: optionalFunction(kWhere, "evaluate", options.evaluate),
    onRound: optionalFunction(kWhere, "onRound", options.onRound),
    limits: readLimits(options.limits),
    compression,
    privacy,
    secure,
    onFailure: optionalFunction(kWhere, "onFailure", options.onFailure),
    lease: numberFrom(kWhere, "lease", lease, { least: 100, most: kMostMs }),
  };
}

/** Returns what secure aggregation cannot be had with; null if all fits. */
function checkCombination({
  compression,
  privacy,
  minUpdates,
}: Pick<ReadServeOptions, "compression" | "privacy" | "minUpdates">): string | null {
  // What is masked has no structure that could be left out.
  if (compression !== undefined) return "masked updates cannot be compressed.";
  if (privacy !== undefined) return "with it the coordinator cannot clip updates for privacy.";
  if (minUpdates < 2) return `the sum of one update is that update; minUpdates is ${minUpdates}.`;
  return null;
}

function readLimits(given: unknown): Limits {
  const limits = readOptions(kWhere, kLimits, given ?? {});
  for (const [name, value] of Object.entries(limits)) {
    if (value !== undefined) numberFrom(kWhere, `limits.${name}`, value, { above: 0 });
  }
  return limits;
}
