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
import { type Place, readPlace } from "../transport.js";
import { stateFrom } from "../update/state.js";

/** What train() gets. */
export interface TrainInput<Model extends nn.Module = nn.Module> {
  /** The model, with the weights of the round; training leaves its own there. */
  readonly model: Model;
  /** The number of the round, from 1. */
  readonly round: number;
  /** Aborted when the result is not wanted any more: the round is over, or the client leaves. */
  readonly signal: AbortSignal;
}

/** What train() returns. */
export interface TrainResult {
  /** How many samples it has trained with, by which strategies weigh the update. */
  readonly samples: number;
  /** Numbers that the coordinator averages over the clients, such as the loss. */
  readonly metrics?: Readonly<Record<string, number>> | undefined;
}

/** What became of a client's round. */
export interface ClientRound {
  /** The number of the round, from 1. */
  readonly round: number;
  /**
   * "sent": the server has the update; "late": the round was over before; "refused": the server keeps no more of this client's messages,
   * or training went beyond the range of secure aggregation, or to NaN.
   */
  readonly outcome: "sent" | "late" | "refused";
  /** The bytes of the update. */
  readonly bytes: number;
}

/** Options of `join`. */
export interface JoinOptions<Model extends nn.Module = nn.Module> {
  /** Addresses of NATS servers: nats: or tls: (Node), ws: or wss: (pages); or the memory that the coordinator shares. */
  readonly servers: string | readonly string[] | MemoryNetwork;
  /** How the client proves who it is; default: the server asks for nothing. */
  readonly credentials?: Credentials | undefined;
  /** The name of the run. */
  readonly run: string;
  /** Makes a model like the coordinator's. */
  readonly model: () => Model;
  /** Trains the model with the client's own data. */
  readonly train: (input: TrainInput<Model>) => Promise<TrainResult>;
  /** The client's name: letters, digits, hyphens and underscores; the server may allow only one. Default a random one. */
  readonly name?: string | undefined;
  /** Sends masked updates only: the client leaves a run without secure aggregation. Default false. */
  readonly secureAggregation?: boolean | undefined;
  /** What stateDict() of this client has returned before it was started again; default nothing. Strategies such as Scaffold need it. */
  readonly state?: Readonly<Record<string, Tensor>> | undefined;
  /** Called after each round in which this client has trained. */
  readonly onRound?: ((round: ClientRound) => void) | undefined;
  /** Ends the client, as leave() does. If it is given before there is one, join() rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The options, checked. */
export interface ReadJoinOptions {
  readonly place: Place;
  readonly names: RunNames;
  readonly name: string;
  readonly model: () => nn.Module;
  readonly train: JoinOptions["train"];
  readonly secureAggregation: boolean;
  readonly state: Readonly<Record<string, Tensor>>;
  readonly onRound: JoinOptions["onRound"];
  readonly signal: AbortSignal | undefined;
}

const kWhere = "join";
const kOptions = [
  "servers",
  "credentials",
  "run",
  "model",
  "train",
  "name",
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
    names: namesOf(kWhere, options.run),
    name: nameFrom(kWhere, "name", name),
    model: functionFrom(kWhere, "model", options.model),
    train: functionFrom(kWhere, "train", options.train),
    secureAggregation: booleanFrom(kWhere, "secureAggregation", secureAggregation),
    state: stateFrom(kWhere, "state", options.state ?? {}),
    onRound: optionalFunction(kWhere, "onRound", options.onRound),
    signal: optionalSignal(kWhere, options.signal),
  };
}
