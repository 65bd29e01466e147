// Arrays of the dtypes that are sent, and the reductions on them.

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

/** Returns a view of elements in a buffer, from `start` to below `end`, counted in elements. */
export function elementsOf(
  dtype: WireDType,
  buffer: ArrayBufferLike,
  start = 0,
  end = buffer.byteLength / bytesOf(dtype),
): Elements {
  return new kArrays[dtype](buffer as ArrayBuffer, start * bytesOf(dtype), end - start);
}

// Every type of array has the same operators, which TypeScript cannot express for a union of numbers and bigints.
type Numbers = Float64Array;

const kInto: Record<Reduction, (sum: Numbers, other: Numbers) => void> = {
  sum: add,
  mean: add,
  product: (sum, other) => {
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) * (other[i] as number);
  },
  // Like PyTorch's, NaN is the largest and the smallest.
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
 * Returns what the elements of all ranks become. They are taken in the order of the ranks, so that the bits of the result depend neither
 * on who computes it nor on the order in which messages arrive.
 */
export function reduced(parts: readonly Elements[], reduction: Reduction): Elements {
  const [first, ...others] = parts;
  const result = (first as Elements).slice();
  for (const other of others) kInto[reduction](result as Numbers, other as Numbers);
  if (reduction === "mean") {
    const numbers = result as Numbers;
    for (let i = 0; i < numbers.length; i++) numbers[i] = (numbers[i] as number) / parts.length;
  }
  return result;
}
