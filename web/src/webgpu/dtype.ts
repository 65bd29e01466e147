// The element types of memory, in the order of their numbers in the stream.

import type { ComputedDType as DType } from "../generated/border";

export { type ComputedDType as DType, kComputedDTypes as dtypes } from "../generated/border";

/** Bytes per element. */
export function itemSize(dtype: DType): number {
  return kItemSizes[dtype];
}

const kItemSizes: Readonly<Record<DType, number>> = {
  float32: 4,
  float64: 8,
  int32: 4,
  int64: 8,
  uint8: 1,
  bool: 1,
  complex64: 8,
  complex128: 16,
};
