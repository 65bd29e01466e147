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
  | "format" // not a safetensors file, or without the metadata of an update
  | "run" // of another run, round or client than the message says
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
): Accepted | Reason {
  let metadata: Readonly<Record<string, string>>;
  let tensors: State;
  try {
    metadata = eg.io.readSafetensorsMetadata(bytes);
    tensors = eg.io.loadSafetensors(bytes);
  } catch {
    return "format";
  }
  try {
    const { run, round } = expected;
    if (metadata.run !== run || metadata.round !== `${round}` || metadata.client !== client)
      return "run";
    const samples = Number(metadata.samples);
    const isCount = Number.isSafeInteger(samples) && samples > 0 && samples <= expected.mostSamples;
    if (!isCount) return "samples";
    const metrics = metricsFrom(metadata.metrics ?? "{}");
    if (metrics === null) return "metrics";
    const reason = whyUnfit(tensors, expected);
    return reason ?? { client, samples, metrics, bytes };
  } finally {
    free(tensors);
  }
}

function whyUnfit(tensors: State, expected: Expected): Reason | null {
  const { spec, compression, global, mostNorm } = expected;
  const wanted = compression === undefined ? spec : compressedSpec(spec, compression);
  const names = Object.keys(tensors);
  if (names.length !== wanted.size || !names.every((name) => wanted.has(name))) return "keys";
  for (const [name, { dtype, shape }] of wanted) {
    const tensor = tensors[name] as eg.Tensor;
    if (tensor.dtype !== dtype) return "dtypes";
    if (tensor.shape.join() !== shape.join()) return "shapes";
  }
  return eg.scope(() => {
    if (!Object.values(tensors).every(allFinite)) return "values";
    const weights = weightsFrom(tensors, expected);
    if (weights === null) return "values";
    // The sum of weights and difference may overflow although all elements are finite.
    if (!Object.values(weights).every(allFinite)) return "values";
    return normOf(differenceOf(weights, global)) <= mostNorm ? null : "norm";
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
