// The element types of the safetensors format.

import type { DType } from "../tensor/dtype.js";

/** How the elements of a file type are stored, and the dtype that they are read as. */
export interface StoredType {
  readonly dtype: DType;
  readonly bytes: number;
  /**
   * Reads an element of a type that does not exist here and returns it as an element of the dtype's typed array. Absent if the
   * stored bytes are those of the dtype.
   */
  readonly read?: (view: DataView, at: number) => number | bigint;
}

/** The types by their names in files. Types that do not exist here are read as the smallest dtype with all their values. */
export const kStoredTypes: ReadonlyMap<string, StoredType> = new Map<string, StoredType>([
  ["F64", { dtype: "float64", bytes: 8 }],
  ["F32", { dtype: "float32", bytes: 4 }],
  ["I64", { dtype: "int64", bytes: 8 }],
  ["I32", { dtype: "int32", bytes: 4 }],
  ["I16", { dtype: "int16", bytes: 2 }],
  ["I8", { dtype: "int8", bytes: 1 }],
  ["U8", { dtype: "uint8", bytes: 1 }],
  ["BOOL", { dtype: "bool", bytes: 1 }],
  ["C64", { dtype: "complex64", bytes: 8 }],
  ["F16", { dtype: "float16", bytes: 2 }],
  ["BF16", { dtype: "bfloat16", bytes: 2 }],
  ["F8_E5M2", { dtype: "float8_e5m2", bytes: 1 }],
  ["F8_E4M3", { dtype: "float8_e4m3fn", bytes: 1 }],
  ["U16", { dtype: "int32", bytes: 2, read: (view, at) => view.getUint16(at, true) }],
  ["U32", { dtype: "int64", bytes: 4, read: (view, at) => BigInt(view.getUint32(at, true)) }],
  // The upper half of the range does not fit in an int64; the reader checks for that.
  ["U64", { dtype: "int64", bytes: 8, read: (view, at) => view.getBigUint64(at, true) }],
]);

/** Returns the name of the type that a dtype is stored as, or undefined if the format has none. */
export function storedName(dtype: DType): string | undefined {
  for (const [name, type] of kStoredTypes)
    if (type.dtype === dtype && type.read === undefined) return name;
  return undefined;
}
