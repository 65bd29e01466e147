// The element types of the safetensors format.

import type { DType } from "../tensor/dtype.js";

/** How the elements of a file type are stored, and the dtype that they are read as. */
export interface StoredType {
  readonly dtype: DType;
  readonly bytes: number;
}

/** The types by their names in files. */
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
  ["U16", { dtype: "uint16", bytes: 2 }],
  ["U32", { dtype: "uint32", bytes: 4 }],
  ["U64", { dtype: "uint64", bytes: 8 }],
]);

/** Returns the name of the type that a dtype is stored as, or undefined if the format has none. */
export function storedName(dtype: DType): string | undefined {
  for (const [name, type] of kStoredTypes) if (type.dtype === dtype) return name;
  return undefined;
}
