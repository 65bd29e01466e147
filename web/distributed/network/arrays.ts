// Typed arrays of the dtypes that are sent, and reductions on them.

import type { Reduction, WireDType } from "../requests.js";

/** The elements of a buffer. */
export type Elements = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array;

const kArrays = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
};

/** Returns the bytes of an element. */
export function bytesOf(dtype: WireDType): number {
  return kArrays[dtype].BYTES_PER_ELEMENT;
}

/** Returns a view of the elements of a buffer from `start` to before `end`. */
export function elementsOf(
  dtype: WireDType,
  buffer: ArrayBufferLike,
  start = 0,
  end = buffer.byteLength / bytesOf(dtype),
): Elements {
  return new kArrays[dtype](buffer as ArrayBuffer, start * bytesOf(dtype), end - start);
}

// All these arrays support the same operators, but TypeScript cannot express that for a union of numbers and bigints.
type Numbers = Float64Array;

const kInto: Record<Reduction, (sum: Numbers, other: Numbers) => void> = {
  sum: add,
  mean: add,
  product: (sum, other) => {
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) * (other[i] as number);
  },
  // As in PyTorch, NaN wins in both max and min.
  max: (sum, other) => {
    for (let i = 0; i < sum.length; i++) {
      const [a, b] = [sum[i] as number, other[i] as number];
      if (b > a || Number.isNaN(b)) sum[i] = b;
    }
  },
  min: (sum, other) => {
    for (let i = 0; i < sum.length; i++) {
      const [a, b] = [sum[i] as number, other[i] as number];
      if (b < a || Number.isNaN(b)) sum[i] = b;
    }
  },
};

function add(sum: Numbers, other: Numbers): void {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (other[i] as number);
}

/**
 * Reduces the elements of all ranks, in rank order, so that the result is bitwise independent of which rank computes it and of the order in
 * which messages arrive.
 */
export function reduce(parts: readonly Elements[], reduction: Reduction): Elements {
  const [first, ...others] = parts;
  const result = (first as Elements).slice();
  for (const other of others) kInto[reduction](result as Numbers, other as Numbers);
  if (reduction === "mean") {
    const numbers = result as Numbers;
    for (let i = 0; i < numbers.length; i++) numbers[i] = (numbers[i] as number) / parts.length;
  }
  return result;
}
