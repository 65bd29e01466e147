// The element types of PyTorch: the classes of storages and the dtypes, as types of stored elements.

import { kStoredTypes, type StoredType } from "../stored_types.js";

// PyTorch's dtypes by the names that safetensors files have for them.
const kNames: Readonly<Record<string, string>> = {
  float64: "F64",
  float32: "F32",
  float16: "F16",
  bfloat16: "BF16",
  int64: "I64",
  int32: "I32",
  int16: "I16",
  int8: "I8",
  uint8: "U8",
  uint16: "U16",
  uint32: "U32",
  uint64: "U64",
  bool: "BOOL",
  complex64: "C64",
  float8_e4m3fn: "F8_E4M3",
  float8_e5m2: "F8_E5M2",
};

// The class of the storages of each dtype. Newer dtypes have none.
const kStorages: Readonly<Record<string, string>> = {
  float64: "DoubleStorage",
  float32: "FloatStorage",
  float16: "HalfStorage",
  bfloat16: "BFloat16Storage",
  int64: "LongStorage",
  int32: "IntStorage",
  int16: "ShortStorage",
  int8: "CharStorage",
  uint8: "ByteStorage",
  bool: "BoolStorage",
  complex64: "ComplexFloatStorage",
  complex128: "ComplexDoubleStorage",
};

// Safetensors files have no type for these.
const kOwn = new Map<string, StoredType>([
  ["complex32", { dtype: "complex32", bytes: 4 }],
  ["complex128", { dtype: "complex128", bytes: 16 }],
]);

/** Returns how the elements of a PyTorch dtype are stored, or undefined for one that cannot be read. */
export function storedTypeOf(dtype: string): StoredType | undefined {
  const own = kOwn.get(dtype);
  if (own !== undefined || !Object.hasOwn(kNames, dtype)) return own;
  return kStoredTypes.get(kNames[dtype] ?? "");
}

/** Returns the dtype of a class of storages, such as "FloatStorage", or undefined for one that cannot be read. */
export function dtypeOfStorage(name: string): string | undefined {
  return Object.keys(kStorages).find((dtype) => kStorages[dtype] === name);
}

/** Returns the class of the storages of a dtype that exists here, or undefined if PyTorch has none. */
export function storageOfDtype(dtype: string): string | undefined {
  return kStorages[dtype];
}
