// Updates as integers, whose sums are exact: the differences times the number of samples, followed by the number of samples.

import * as eg from "edgegrad";
import {
  at,
  differenceOf,
  isFloating,
  mapState,
  type State,
  type StateSpec,
} from "../update/state.js";
import type { SecureSettings } from "./settings.js";

const kHalf = 2 ** 31;

/** The mean of a sum of updates. */
export interface Mean {
  readonly samples: number;
  /** The Euclidean norm of the mean difference. */
  readonly norm: number;
  /** Returns weights plus the mean difference; integer tensors are unchanged. */
  addTo(weights: Readonly<State>): State;
}

/** The number of integers in an update. */
export function integersOf(spec: StateSpec): number {
  return trainedTensors(spec).reduce((sum, { count }) => sum + count, 1);
}

/** Returns an update as integers modulo 2^32; null if a difference is beyond the range, or not a number. */
export function toIntegers(
  trained: Readonly<State>,
  global: Readonly<State>,
  spec: StateSpec,
  samples: number,
  clients: number,
  settings: SecureSettings,
): Uint32Array | null {
  const integers = new Uint32Array(integersOf(spec));
  const steps = stepsOf(clients, settings) * samples;
  const values = eg.noGrad(() =>
    eg.scope(() => {
      const difference = differenceOf(trained, global);
      return trainedTensors(spec).map(({ key }) => at(difference, key).double().dataSync());
    }),
  );
  let next = 0;
  for (const tensor of values) {
    for (const value of tensor as Float64Array) {
      if (!(Math.abs(value) <= settings.range)) return null;
      integers[next++] = Math.round(value * steps);
    }
  }
  integers[next] = samples;
  return integers;
}

/** Decodes a sum of updates to their mean; returns null if it cannot be a sum of valid updates. */
export function fromIntegers(
  integers: Uint32Array,
  spec: StateSpec,
  summed: number,
  clients: number,
  settings: SecureSettings,
): Mean | null {
  const samples = integers.at(-1) as number;
  if (samples < summed || samples > summed * settings.samples) return null;
  const steps = stepsOf(clients, settings) * samples;
  const values = Float64Array.from(integers.subarray(0, -1), (integer) => (integer | 0) / steps);
  // If masks remain in a sum, its bits are random, and some value exceeds the range.
  if (!values.every((value) => Math.abs(value) <= settings.range * (1 + 1e-6))) return null;
  return {
    samples,
    norm: Math.sqrt(values.reduce((sum, value) => sum + value * value, 0)),
    addTo(weights) {
      let next = 0;
      const parts = new Map(
        trainedTensors(spec).map(({ key, shape, count }) => {
          const part = values.slice(next, next + count);
          next += count;
          return [key, eg.tensor(part, { dtype: "float64" }).reshape([...shape])];
        }),
      );
      return mapState(weights, (tensor, key) => {
        const part = parts.get(key);
        return part === undefined ? tensor.clone() : tensor.add(part).to(tensor.dtype);
      });
    },
  };
}

/** The integer that represents a difference of 1, chosen so that no sum over this number of clients reaches 2^31. */
function stepsOf(clients: number, { range, samples }: SecureSettings): number {
  // Rounding adds at most half a step for each client.
  return (kHalf - 1 - clients) / (clients * range * samples);
}

function trainedTensors(
  spec: StateSpec,
): { key: string; shape: readonly number[]; count: number }[] {
  return [...spec]
    .filter(([, { dtype }]) => isFloating(dtype))
    .map(([key, { shape }]) => ({
      key,
      shape,
      count: shape.reduce((product, size) => product * size, 1),
    }));
}
