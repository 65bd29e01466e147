// The options of join().

import type { nn, Tensor } from "edgegrad";
import type { Credentials } from "../../nats/connection.js";
import { nameFrom } from "../../nats/names.js";
import {
  booleanFrom,
  functionFrom,
  optionalFunction,
  optionalSignal,
  readOptions,
} from "../../nats/options.js";
import type { MemoryNetwork } from "../memory/network.js";
import { namesOf, type RunNames } from "../names.js";
import type { TrainConfig } from "../rollout.js";
import { keyFrom } from "../signatures.js";
import { type Place, readPlace } from "../transport.js";
import { stateFrom } from "../update/state.js";
import { versionFrom } from "../version.js";

/** Why the coordinator has refused an update. */
export interface Refused {
  /** The reason as a word: one of docs/guide/federated.md, "What is refused". */
  readonly reason: string;
  /** The reason as a sentence. */
  readonly message: string;
}

/** The argument of train(). */
export interface TrainInput<Model extends nn.Module = nn.Module> {
  /** The model with the weights of the round, which train() changes. */
  readonly model: Model;
  /** The number of the round, from 1. */
  readonly round: number;
  /** Aborted when the result is no longer needed: the round is over, or the client leaves. */
  readonly signal: AbortSignal;
  /** The name of the revision that this client trains: "" for the one with which the run has begun, or another that is rolled out. */
  readonly revision: string;
  /** What serve({ config }) says, or the revision that is rolled out to this client; default {}. */
  readonly config: TrainConfig;
  /** Why the client's update before this one was refused in the same round; undefined if this is the first. */
  readonly refused?: Refused | undefined;
}

/** The result of train(). */
export interface TrainResult {
  /** The number of training samples, by which strategies weight the update. */
  readonly samples: number;
  /** Numbers that the coordinator averages over the clients, such as the loss. */
  readonly metrics?: Readonly<Record<string, number>> | undefined;
}

/** The outcome of a client's round. */
export interface ClientRound extends Partial<Refused> {
  /** The number of the round, from 1. */
  readonly round: number;
  /**
   * "sent": the coordinator counts the update or, if it is masked, has it; "late": the round ended first; "refused": `reason` and `message`
   * tell why, and the client may not send another update in this round.
   */
  readonly outcome: "sent" | "late" | "refused";
  /** The size of the update in bytes. */
  readonly bytes: number;
}

/** Options of `join`. */
export interface JoinOptions<Model extends nn.Module = nn.Module> {
  /** Addresses of NATS servers: nats: or tls: (Node), ws: or wss: (pages); or the MemoryNetwork of the coordinator. */
  readonly servers: string | readonly string[] | MemoryNetwork;
  /** The client's credentials; default: none. */
  readonly credentials?: Credentials | undefined;
  /** The coordinator's public nkey: records that are not signed by it are not taken. Default: none, and the server's permissions decide. */
  readonly coordinator?: string | undefined;
  /** The name of the run. */
  readonly run: string;
  /** Creates a model like the coordinator's. */
  readonly model: () => Model;
  /** Trains the model with the client's own data. */
  readonly train: (input: TrainInput<Model>) => Promise<TrainResult>;
  /** The client's name: letters, digits, hyphens and underscores. The server may allow only a certain name. Default: a random name. */
  readonly name?: string | undefined;
  /** The version of this program, such as "1.2.0": serve({ clientVersions }) says which take part. Default: none. */
  readonly version?: string | undefined;
  /** Send only masked updates: the client leaves a run without secure aggregation. Default false. */
  readonly secureAggregation?: boolean | undefined;
  /** The result of this client's stateDict() before it was restarted; default: none. Strategies such as Scaffold need it. */
  readonly state?: Readonly<Record<string, Tensor>> | undefined;
  /** Called after each round in which this client trained, with the coordinator's verdict. */
  readonly onRound?: ((round: ClientRound) => void) | undefined;
  /** Ends the client like leave(). If it is aborted before join() resolves, join() rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The checked options. */
export interface ReadJoinOptions {
  readonly place: Place;
  readonly coordinator: string | undefined;
  readonly names: RunNames;
  readonly name: string;
  readonly model: () => nn.Module;
  readonly train: JoinOptions["train"];
  readonly version: string;
  readonly secureAggregation: boolean;
  readonly state: Readonly<Record<string, Tensor>>;
  readonly onRound: JoinOptions["onRound"];
  readonly signal: AbortSignal | undefined;
}

const kWhere = "join";
const kOptions = [
  "servers",
  "credentials",
  "coordinator",
  "run",
  "model",
  "train",
  "name",
  "version",
  "secureAggregation",
  "state",
  "onRound",
  "signal",
];

/** Checks the options of a call. */
export function readJoinOptions(given: unknown): ReadJoinOptions {
  const options = readOptions(kWhere, kOptions, given);
  const { name = `client_${globalThis.crypto.randomUUID().slice(0, 8)}` } = options;
  const { secureAggregation = false } = options;
  return {
    place: readPlace(kWhere, options.servers, options.credentials),
    coordinator:
      options.coordinator === undefined
        ? undefined
        : keyFrom(kWhere, "coordinator", options.coordinator),
    names: namesOf(kWhere, options.run),
    name: nameFrom(kWhere, "name", name),
    model: functionFrom(kWhere, "model", options.model),
    train: functionFrom(kWhere, "train", options.train),
    version: options.version === undefined ? "" : versionFrom(kWhere, "version", options.version),
    secureAggregation: booleanFrom(kWhere, "secureAggregation", secureAggregation),
    state: stateFrom(kWhere, "state", options.state ?? {}),
    onRound: optionalFunction(kWhere, "onRound", options.onRound),
    signal: optionalSignal(kWhere, options.signal),
  };
}
