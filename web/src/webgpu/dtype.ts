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
  int8: 1,
  int16: 2,
  complex32: 4,
  float8_e4m3fn: 1,
  float8_e5m2: 1,
  uint16: 2,
  uint32: 4,
  uint64: 8,
};

/** The real dtypes that shaders compute. */
export const kRealDTypes: readonly DType[] = ["float32", "int32", "int64", "uint8", "bool"];

/** All dtypes that shaders compute. */
export const kAnyDType: readonly DType[] = [...kRealDTypes, "complex64"];

/** The dtypes that shaders load and store, also with a conversion. */
export const kStoredDTypes: readonly DType[] = [
  ...kAnyDType,
  "float16",
  "bfloat16",
  "int8",
  "int16",
];

/** Whether several elements share a word of memory. */
export function sharesWords(dtype: DType): boolean {
  return itemSize(dtype) < 4;
}

/** A dtype whose elements are two bytes; shaders compute them as f32. */
export type Half = "float16" | "bfloat16";

export function isHalf(dtype: DType): dtype is Half {
  return dtype === "float16" || dtype === "bfloat16";
}

/** Whether elements are integers of one or two bytes that shaders compute as i32. */
export function isShort(dtype: DType): boolean {
  return dtype === "int8" || dtype === "int16";
}
