// Reads an update at the coordinator. Nothing in it is trusted: an update with other names, dtypes, shapes or sizes than expected is refused.

import * as eg from "edgegrad";
import { compressedSpec, expand, type ReadCompression } from "./compression.js";
import {
  allFinite,
  differenceOf,
  free,
  normOf,
  type State,
  type StateSpec,
  sumOf,
} from "./state.js";

/** Why an update is refused. */
export type Reason =
  | "message" // not a part of an update
  | "size" // more bytes or parts than an update can have
  | "digest" // the parts are not those of one file
  | "signature" // not signed by the client's key, for this run, round and session
  | "format" // not a safetensors file, or without the metadata of an update
  | "run" // of another run, round or client than the message says
  | "revision" // of another revision than the client is to train
  | "late" // of a round that is over or has not begun
  | "repeated" // the client's update has been counted already
  | "unselected" // of a client that is not in this round
  | "flood" // more messages of a client than are read in a round
  | "keys"
  | "dtypes"
  | "shapes"
  | "values" // NaN, infinities, or invalid positions
  | "norm" // farther from the round's weights than is accepted
  | "samples"
  | "metrics"
  | "shares"; // of secure aggregation: not those that the client was given

/** Why an update is refused, as a word and as a sentence. */
export interface Refusal {
  readonly reason: Reason;
  readonly message: string;
}

const kMessages: Readonly<Record<Reason, string>> = {
  message: "it is not a part of an update",
  size: "it has more bytes or parts than an update can have",
  digest: "its parts are not those of one file",
  signature: "it is not signed by the key of this client, for this run, round and session",
  format: "it is not a safetensors file with the metadata of an update",
  run: "it is of another run, round or client than its message says",
  revision: "it is not of the revision that its client is to train",
  late: "it is of a round that is over or has not begun",
  repeated: "the client's update has been counted already",
  unselected: "the client is not in this round",
  flood: "the client has sent more messages than are read in a round",
  keys: "it has other tensors than the model",
  dtypes: "it has tensors of other dtypes than the model",
  shapes: "it has tensors of other shapes than the model",
  values: "it has NaN, infinities or invalid positions",
  norm: "it is farther from the round's weights than limits.norm",
  samples: "its number of samples is not one, or above limits.samples",
  metrics: "its metrics are not few finite numbers by short names",
  shares: "they are not the shares that the client was given",
};

/** Returns a refusal; without a message, it has that of its reason. */
export function refusal(reason: Reason, message: string = kMessages[reason]): Refusal {
  return { reason, message };
}

/** An update that was accepted. */
export interface Accepted {
  readonly client: string;
  readonly samples: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** The file. */
  readonly bytes: Uint8Array;
}

/** What an update is checked against. */
export interface Expected {
  readonly run: string;
  readonly round: number;
  /** The name of the revision that the client trains. */
  readonly revision: string;
  readonly spec: StateSpec;
  readonly global: Readonly<State>;
  readonly compression: ReadCompression | undefined;
  readonly mostSamples: number;
  readonly mostNorm: number;
}

const kMostMetrics = 64;
const kMostMetricName = 64;

/** Checks the file of a client's update. */
export function readUpdate(
  client: string,
  bytes: Uint8Array,
  expected: Expected,
): Accepted | Refusal {
  let metadata: Readonly<Record<string, string>>;
  let tensors: State;
  try {
    metadata = eg.io.readSafetensorsMetadata(bytes);
    tensors = eg.io.loadSafetensors(bytes);
  } catch {
    return refusal("format");
  }
  try {
    const { run, round } = expected;
    if (metadata.run !== run || metadata.round !== `${round}` || metadata.client !== client)
      return refusal("run");
    if ((metadata.revision ?? "") !== expected.revision) return refusal("revision");
    const samples = Number(metadata.samples);
    const isCount = Number.isSafeInteger(samples) && samples > 0 && samples <= expected.mostSamples;
    if (!isCount) {
      const found = JSON.stringify(`${metadata.samples}`.slice(0, 20));
      return refusal("samples", `samples ${found}, expected 1 to ${expected.mostSamples}`);
    }
    const metrics = metricsFrom(metadata.metrics ?? "{}");
    if (metrics === null) return refusal("metrics");
    const reason = whyUnfit(tensors, expected);
    return reason ?? { client, samples, metrics, bytes };
  } finally {
    free(tensors);
  }
}

function whyUnfit(tensors: State, expected: Expected): Refusal | null {
  const { spec, compression, global, mostNorm } = expected;
  const wanted = compression === undefined ? spec : compressedSpec(spec, compression);
  const names = Object.keys(tensors);
  if (names.length !== wanted.size || !names.every((name) => wanted.has(name))) {
    return refusal("keys");
  }
  for (const [name, { dtype, shape }] of wanted) {
    const tensor = tensors[name] as eg.Tensor;
    if (tensor.dtype !== dtype) {
      return refusal("dtypes", `"${name}" is ${tensor.dtype}, expected ${dtype}`);
    }
    if (tensor.shape.join() !== shape.join()) {
      return refusal("shapes", `"${name}" is [${tensor.shape}], expected [${shape}]`);
    }
  }
  return eg.scope(() => {
    const bad = Object.entries(tensors).find(([, tensor]) => !allFinite(tensor));
    if (bad !== undefined) return refusal("values", `"${bad[0]}" has NaN or infinities`);
    const weights = weightsFrom(tensors, expected);
    if (weights === null) return refusal("values");
    // The sum of weights and difference may overflow although all elements are finite.
    if (!Object.values(weights).every(allFinite)) return refusal("values");
    const norm = normOf(differenceOf(weights, global));
    if (norm <= mostNorm) return null;
    return refusal("norm", `norm ${norm.toPrecision(3)} over the limit ${mostNorm}`);
  });
}

function weightsFrom(tensors: State, { spec, compression, global }: Expected): State | null {
  if (compression === undefined) return tensors;
  const difference = expand(tensors, spec);
  return difference === null ? null : sumOf(global, difference);
}

/** Returns the weights of an accepted update. */
export function weightsOf({ bytes }: Accepted, expected: Expected): State {
  return eg.scope(() => weightsFrom(eg.io.loadSafetensors(bytes), expected) as State);
}

function metricsFrom(text: string): Record<string, number> | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const entries = Object.entries(value);
  return areMetrics(entries) ? Object.fromEntries(entries) : null;
}

/** Whether metrics are few enough, with short names and finite values. */
export function areMetrics(entries: [string, unknown][]): entries is [string, number][] {
  const isMetric = ([name, value]: [string, unknown]) =>
    name.length <= kMostMetricName && typeof value === "number" && Number.isFinite(value);
  return entries.length <= kMostMetrics && entries.every(isMetric);
}
