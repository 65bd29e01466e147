// The element types of memory, in the order of their numbers in the stream.

import type { DType } from "../generated/border";

export { type DType, kDTypes as dtypes } from "../generated/border";

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
  float16: 2,
  bfloat16: 2,
};

/** Whether several elements share a word of memory. */
export function sharesWords(dtype: DType): boolean {
  return itemSize(dtype) < 4;
}

/** A dtype whose elements are two bytes; shaders compute them as f32. */
export type Half = "float16" | "bfloat16";

export function isHalf(dtype: DType): dtype is Half {
  return dtype === "float16" || dtype === "bfloat16";
}
