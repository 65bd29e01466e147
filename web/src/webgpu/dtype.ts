// The element types of memory, in the order of their numbers in the stream.

/** In the order of src/base/dtype.h: the number of a dtype is its index. */
export const dtypes = [
  "float32",
  "float64",
  "int32",
  "int64",
  "uint8",
  "bool",
  "complex64",
  "complex128",
] as const;

export type DType = (typeof dtypes)[number];

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
