// The options of serve().

import type { nn } from "edgegrad";
import { fail, refuse } from "../../errors/errors.js";
import type { Credentials } from "../../nats/connection.js";
import {
  functionFrom,
  integerFrom,
  isPlain,
  numberFrom,
  optionalFunction,
  readOptions,
} from "../../nats/options.js";
import type { MemoryNetwork } from "../memory/network.js";
import { namesOf, type RunNames } from "../names.js";
import { type Privacy, type ReadPrivacy, readPrivacy } from "../privacy/noise.js";
import type { RoundSummary } from "../record.js";
import { configFrom, type TrainConfig } from "../rollout.js";
import {
  type ReadSecureAggregation,
  readSecureAggregation,
  type SecureAggregation,
} from "../secure/settings.js";
import { type ClientKeys, keyFrom } from "../signatures.js";
import { Strategy } from "../strategies/strategy.js";
import { type Place, readPlace } from "../transport.js";
import { type Compression, type ReadCompression, readCompression } from "../update/compression.js";
import { type AcceptedVersions, acceptedVersions } from "./accepted_versions.js";
import type { RunEvent } from "./events.js";

/** Limits on what is accepted from clients; anything beyond is refused and counted. */
export interface Limits {
  /** The bytes of an update; default twice those of the weights, plus 64 kB. */
  readonly updateBytes?: number | undefined;
  /** How many messages the server takes from one client in a round; default four times those of an update. */
  readonly messages?: number | undefined;
  /** How often a client may send an update in one round, if the ones before are refused; default 2. */
  readonly attempts?: number | undefined;
  /** How many bytes the server reserves for the updates of this run; default: none, and only the server's own limits hold. */
  readonly streamBytes?: number | undefined;
  /** The Euclidean distance of an update from the round's weights; default 100 times the norm of the first weights, at least 100. */
  readonly norm?: number | undefined;
  /** The samples of an update; default 1e9. */
  readonly samples?: number | undefined;
  /** The clients that are present at the same time; default 10,000. */
  readonly clients?: number | undefined;
  /** What a client may ask for in a second, for longer than a moment; one that goes on is not answered for 10 seconds. Default 2,000. */
  readonly asksPerSecond?: number | undefined;
  /** The bytes of updates that a client may send at once, and again in each hour; default: any number. */
  readonly bytesPerHour?: number | undefined;
}

/** Which round is the best. */
export interface KeepBest {
  /** The name of a metric of evaluate() or of the clients. */
  readonly metric: string;
  /** Whether smaller or larger values are better; default "min". */
  readonly mode?: "min" | "max" | undefined;
}

/** The argument of evaluate(). */
export interface EvaluateInput {
  /** A model with the weights after the round. */
  readonly model: nn.Module;
  /** The number of the round, from 1. */
  readonly round: number;
  /** The name of the revision of these weights: "" for the one with which the run has begun, or another that was rolled out. */
  readonly revision: string;
}

/** The argument of onFailure(). */
export interface RoundFailure {
  /** The number of the round, from 1. */
  readonly round: number;
  /** The number of the attempt at it, from 1. */
  readonly attempt: number;
  /** The reason of the failure. */
  readonly message: string;
}

/** Options of `serve`. */
export interface ServeOptions {
  /** Addresses of NATS servers: nats:, tls:, ws: or wss:; or memory, for clients in the same page or process. */
  readonly servers: string | readonly string[] | MemoryNetwork;
  /** The coordinator's credentials; default: none. With an nkey, the record is signed by it. */
  readonly credentials?: Credentials | undefined;
  /**
   * The public nkeys of the clients by name, or a function that returns that of a client, or null for one that may not take part. Nothing
   * is counted that is not signed by these. Default: none, and the server's permissions alone say who a client is.
   */
  readonly clients?: ClientKeys | undefined;
  /**
   * The versions of clients that take part, as ranges or a list: ">=1.2.0 <2.0.0", "^1.2.0", ["1.2.0", "1.4.1"]. A client says its own by
   * join({ version }). Default: all, also clients without a version.
   */
  readonly clientVersions?: string | readonly string[] | undefined;
  /** What train() is given as `config`, values that JSON has, until another revision is rolled out; default {}. */
  readonly config?: TrainConfig | undefined;
  /** The name of the run: letters, digits, hyphens and underscores. An existing run with this name is continued. */
  readonly run: string;
  /** Creates the model; its initial weights are those of the first round. */
  readonly model: () => nn.Module;
  /** How updates become the next weights. */
  readonly strategy: Strategy;
  /** The number of rounds; a larger number than before continues a run that has finished. */
  readonly rounds: number;
  /** The minimum number of clients to begin a round. */
  readonly minClients: number;
  /**
   * The minimum number of updates to end a round at its deadline; with fewer, the deadline is extended. Default: minClients and, after the
   * last extension, what the strategy needs at least.
   */
  readonly minUpdates?: number | undefined;
  /** How often a deadline is extended before the round ends with fewer updates, or is given up and opened again; default 3. */
  readonly maxExtensions?: number | undefined;
  /** The number of clients in a round, selected at random; default: all that are present. */
  readonly clientsPerRound?: number | undefined;
  /** The time that a round waits for updates, in milliseconds. */
  readonly deadline: number;
  /** The seed of the initial weights and of the selection of clients; default 0. */
  readonly seed?: number | undefined;
  /** Returns metrics of the weights after a round, for the history. */
  readonly evaluate?:
    | ((input: EvaluateInput) => Record<string, number> | Promise<Record<string, number>>)
    | undefined;
  /** Called after each round. A round that ends when this coordinator is killed may be reported twice or not at all. */
  readonly onRound?: ((summary: RoundSummary) => void) | undefined;
  /** Limits on what one client may send. */
  readonly limits?: Limits | undefined;
  /** How clients compress their updates; default: no compression. */
  readonly compression?: Compression | undefined;
  /** Clips updates and adds noise, and reports epsilon. */
  readonly privacy?: Privacy | undefined;
  /** Clients mask their updates, so that the coordinator sees only their sum. Cannot be combined with compression or privacy. Default: off. */
  readonly secureAggregation?: SecureAggregation | undefined;
  /** Called when an attempt at a round of secure aggregation has failed; the round is then opened again. */
  readonly onFailure?: ((failure: RoundFailure) => void) | undefined;
  /** Called at once when something happens that an operator has to know. Default: warnings are written to the console. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  /** The number of rounds whose weights are kept, for `rollBackRun`; default 0: only the last ones are. */
  readonly keepRounds?: number | undefined;
  /** Keeps also the weights of the round that is the best by a metric, for `rollBackRun`; default: of none. */
  readonly keepBest?: KeepBest | undefined;
  /** The number of servers of a cluster that store the run; default 1. */
  readonly replicas?: number | undefined;
  /** The milliseconds without a sign of life of the leading coordinator after which another one takes over; default 3000. */
  readonly lease?: number | undefined;
}

/** The checked options. */
export interface ReadServeOptions {
  readonly place: Place;
  readonly names: RunNames;
  readonly model: () => nn.Module;
  readonly strategy: Strategy;
  readonly rounds: number;
  readonly minClients: number;
  readonly clients: ClientKeys | undefined;
  readonly versions: AcceptedVersions;
  readonly config: TrainConfig;
  readonly minUpdates: number;
  /** The minimum number of updates after the last extension. */
  readonly leastUpdates: number;
  readonly maxExtensions: number;
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
  readonly onEvent: ServeOptions["onEvent"];
  readonly keepRounds: number;
  readonly keepBest: KeepBest | undefined;
  readonly replicas: number;
  readonly lease: number;
}

const kWhere = "serve";
const kOptions = [
  "servers",
  "credentials",
  "clients",
  "clientVersions",
  "config",
  "run",
  "model",
  "strategy",
  "rounds",
  "minClients",
  "minUpdates",
  "maxExtensions",
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
  "onEvent",
  "keepRounds",
  "keepBest",
  "replicas",
  "lease",
];
const kLimits = [
  "updateBytes",
  "messages",
  "attempts",
  "streamBytes",
  "norm",
  "samples",
  "clients",
  "asksPerSecond",
  "bytesPerHour",
];
// The longest time that setTimeout() supports.
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
  const {
    clientsPerRound,
    seed,
    maxExtensions = 3,
    keepRounds = 0,
    replicas = 1,
    lease = 3000,
  } = options;
  const least = Math.max(strategy.fewestUpdates, secure === undefined ? 1 : 2);
  return {
    place: readPlace(kWhere, options.servers, options.credentials),
    names: namesOf(kWhere, options.run),
    model: functionFrom(kWhere, "model", options.model),
    strategy,
    rounds: integerFrom(kWhere, "rounds", options.rounds, { least: 1 }),
    minClients,
    clients: readClients(options.clients),
    versions: acceptedVersions(kWhere, "clientVersions", options.clientVersions),
    config: configFrom(kWhere, options.config ?? {}),
    minUpdates,
    leastUpdates: options.minUpdates === undefined ? least : minUpdates,
    maxExtensions: integerFrom(kWhere, "maxExtensions", maxExtensions, { least: 0 }),
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
    onEvent: optionalFunction(kWhere, "onEvent", options.onEvent),
    keepRounds: integerFrom(kWhere, "keepRounds", keepRounds, { least: 0 }),
    keepBest: readKeepBest(options.keepBest),
    replicas: integerFrom(kWhere, "replicas", replicas, { least: 1, most: 5 }),
    lease: numberFrom(kWhere, "lease", lease, { least: 100, most: kMostMs }),
  };
}

/** Returns why secure aggregation cannot be combined with the other options; null if it can. */
function checkCombination({
  compression,
  privacy,
  minUpdates,
}: Pick<ReadServeOptions, "compression" | "privacy" | "minUpdates">): string | null {
  // Masked updates are random bits, which cannot be compressed.
  if (compression !== undefined) return "masked updates cannot be compressed.";
  if (privacy !== undefined) return "the coordinator cannot clip masked updates for privacy.";
  if (minUpdates < 2) return `the sum of one update is that update; minUpdates is ${minUpdates}.`;
  return null;
}

function readClients(given: unknown): ClientKeys | undefined {
  if (given === undefined || typeof given === "function") return given as ClientKeys | undefined;
  if (!isPlain(given)) refuse(kWhere, "clients", "public nkeys by name, or a function", given);
  for (const [name, key] of Object.entries(given)) keyFrom(kWhere, `clients.${name}`, key);
  return given as ClientKeys;
}

function readKeepBest(given: unknown): KeepBest | undefined {
  if (given === undefined) return undefined;
  const { metric, mode = "min" } = readOptions(kWhere, ["metric", "mode"], given);
  if (typeof metric !== "string") refuse(kWhere, "keepBest.metric", "the name of a metric", metric);
  if (mode !== "min" && mode !== "max") refuse(kWhere, "keepBest.mode", '"min" or "max"', mode);
  return { metric, mode };
}

function readLimits(given: unknown): Limits {
  const limits = readOptions(kWhere, kLimits, given ?? {});
  for (const [name, value] of Object.entries(limits)) {
    if (value !== undefined) numberFrom(kWhere, `limits.${name}`, value, { above: 0 });
  }
  return limits;
}
