// The element types of the safetensors format.

import type { DType } from "../tensor/dtype.js";

/** How the elements of a file type are stored, and the dtype they are read into. */
export interface StoredType {
  readonly dtype: DType;
  readonly bytes: number;
  /** Reads an element that has no dtype of its own here; absent when the bytes are the dtype's. */
  readonly read?: (view: DataView, at: number) => number;
}

/** The names that files use. Types without a dtype here are widened. */
export const kStoredTypes: ReadonlyMap<string, StoredType> = new Map<string, StoredType>([
  ["F64", { dtype: "float64", bytes: 8 }],
  ["F32", { dtype: "float32", bytes: 4 }],
  ["I64", { dtype: "int64", bytes: 8 }],
  ["I32", { dtype: "int32", bytes: 4 }],
  ["U8", { dtype: "uint8", bytes: 1 }],
  ["BOOL", { dtype: "bool", bytes: 1 }],
  ["C64", { dtype: "complex64", bytes: 8 }],
  ["F16", { dtype: "float16", bytes: 2 }],
  ["BF16", { dtype: "bfloat16", bytes: 2 }],
  ["I16", { dtype: "int32", bytes: 2, read: (view, at) => view.getInt16(at, true) }],
  ["U16", { dtype: "int32", bytes: 2, read: (view, at) => view.getUint16(at, true) }],
  ["I8", { dtype: "int32", bytes: 1, read: (view, at) => view.getInt8(at) }],
]);

/** Returns the name under which a dtype is stored, or undefined when the format has none. */
export function storedName(dtype: DType): string | undefined {
  for (const [name, type] of kStoredTypes)
    if (type.dtype === dtype && type.read === undefined) return name;
  return undefined;
}
