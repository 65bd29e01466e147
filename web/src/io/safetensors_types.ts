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
  ["F16", { dtype: "float32", bytes: 2, read: (view, at) => fromHalf(view.getUint16(at, true)) }],
  [
    "BF16",
    { dtype: "float32", bytes: 2, read: (view, at) => fromBfloat(view.getUint16(at, true)) },
  ],
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

const kBits = new DataView(new ArrayBuffer(4));

function fromBfloat(bits: number): number {
  kBits.setUint32(0, bits << 16);
  return kBits.getFloat32(0);
}

function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
