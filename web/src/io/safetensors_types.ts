// The element types of the safetensors format.

import type { DType } from "../tensor/dtype.js";

/** How the elements of a file type are stored, and the dtype they are read into. */
export interface StoredType {
  readonly dtype: DType;
  readonly bytes: number;
  /**
   * Reads an element that has no dtype of its own here, as what an array of the dtype holds; absent when the bytes are the
   * dtype's.
   */
  readonly read?: (view: DataView, at: number) => number | bigint;
}

/** The names that files use. Types without a dtype here become the next one that has all of their values. */
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
  ["U32", { dtype: "int64", bytes: 4, read: (view, at) => BigInt(view.getUint32(at, true)) }],
  // Its upper half has no place in an int64; who reads it looks.
  ["U64", { dtype: "int64", bytes: 8, read: (view, at) => view.getBigUint64(at, true) }],
  ["F8_E5M2", { dtype: "float16", bytes: 1, read: (view, at) => view.getUint8(at) << 8 }],
  ["F8_E4M3", { dtype: "float16", bytes: 1, read: (view, at) => halfOfE4M3(view.getUint8(at)) }],
]);

// A sign, 4 bits of exponent and 3 of fraction, of which all ones are NaN and nothing is infinity, as the bits of a float16.
function halfOfE4M3(bits: number): number {
  const sign = (bits & 0x80) << 8;
  const rest = bits & 0x7f;
  if (rest === 0x7f) return sign | 0x7e00;
  // The exponent's offset is 7, that of a float16 is 15.
  if (rest >= 8) return sign | ((rest << 7) + (8 << 10));
  // Below 2 ** -6 the numbers are multiples of 2 ** -9, which a float16 has with an exponent.
  const first = 31 - Math.clz32(rest);
  return rest === 0 ? sign : sign | ((first + 6) << 10) | ((rest << (10 - first)) & 0x3ff);
}

/** Returns the name under which a dtype is stored, or undefined when the format has none. */
export function storedName(dtype: DType): string | undefined {
  for (const [name, type] of kStoredTypes)
    if (type.dtype === dtype && type.read === undefined) return name;
  return undefined;
}
