// ONNX's element types as tensors of edgegrad. Types that edgegrad lacks are emulated: a tensor stores them in the next dtype that has
// all their values, and the type of the tensor is recorded separately.

import type * as eg from "edgegrad";
import { kTypes, type TypeName } from "../proto/types.js";

type Tensor = eg.Tensor;

/** The dtype that stores each type; null for strings, which are not stored in tensors. */
const kStorageDTypes: Readonly<Record<TypeName, eg.DType | null>> = {
  float: "float32",
  uint8: "uint8",
  int8: "int8",
  uint16: "int32",
  int16: "int16",
  int32: "int32",
  int64: "int64",
  string: null,
  bool: "bool",
  float16: "float16",
  double: "float64",
  uint32: "int64",
  uint64: "int64",
  complex64: "complex64",
  complex128: "complex128",
  bfloat16: "bfloat16",
  float8e4m3fn: "float16",
  float8e4m3fnuz: "float16",
  float8e5m2: "float16",
  float8e5m2fnuz: "float16",
  uint4: "uint8",
  int4: "int8",
  float4e2m1: "float16",
  // Its range exceeds that of float16.
  float8e8m0: "float32",
  uint2: "uint8",
  int2: "int8",
};

/** The range of the integer types that wrap around: [smallest, number of bits]. */
const kRanges: Readonly<Partial<Record<TypeName, readonly [number, number]>>> = {
  int2: [-2, 2],
  uint2: [0, 2],
  int4: [-8, 4],
  uint4: [0, 4],
  int8: [-128, 8],
  uint8: [0, 8],
  int16: [-(2 ** 15), 16],
  uint16: [0, 16],
  uint32: [0, 32],
};

const kNames = new Map<number, TypeName>(
  (Object.entries(kTypes) as [TypeName, number][]).map(([name, number]) => [number, name]),
);

const kOwnTypes = new Map<eg.DType, TypeName>(
  (Object.entries(kStorageDTypes) as [TypeName, eg.DType | null][])
    .filter(([name, dtype]) => dtype?.startsWith(name.replace("double", "float")) || name === dtype)
    .map(([name, dtype]) => [dtype as eg.DType, name]),
);

// The types of tensors with an emulated type.
const emulatedTypes = new WeakMap<Tensor, TypeName>();

/** Returns the type with a number in a file; undefined for an unknown number. */
export function typeNumbered(number: number | bigint | undefined): TypeName | undefined {
  return kNames.get(Number(number ?? 0));
}

/** Returns the dtype that stores a type, or null for strings. */
export function dtypeOf(type: TypeName): eg.DType | null {
  return kStorageDTypes[type];
}

/** Returns the ONNX type of a tensor. */
export function typeOf(tensor: Tensor): TypeName {
  return emulatedTypes.get(tensor) ?? ownTypeOf(tensor.dtype);
}

/** Returns the ONNX type that equals a dtype. */
export function ownTypeOf(dtype: eg.DType): TypeName {
  return kOwnTypes.get(dtype) ?? "float";
}

/** Whether a tensor has an emulated type. */
export function isEmulated(tensor: Tensor): boolean {
  return emulatedTypes.has(tensor);
}

/** Records the ONNX type of a tensor. */
export function markAs(tensor: Tensor, type: TypeName): Tensor {
  if (ownTypeOf(tensor.dtype) !== type) emulatedTypes.set(tensor, type);
  return tensor;
}

/** Wraps integers around to the range of an emulated type. */
export function wrapAround(tensor: Tensor, type: TypeName): Tensor {
  const [low, bits] = kRanges[type] ?? [0, 0];
  if (bits === 0 || tensor.dtype === type) return tensor;
  const positive = low === 0 ? tensor : tensor.sub(low);
  const kept = positive.bitwiseAnd(2 ** bits - 1);
  return low === 0 ? kept : kept.add(low);
}

/** Returns the smallest and the largest value of an integer type. */
export function rangeOf(type: TypeName): readonly [number, number] {
  const [low, bits] = kRanges[type] ?? [-(2 ** 31), 32];
  return [low, low + 2 ** bits - 1];
}

/** Whether a type is an integer type; bool is not. */
export function isInteger(type: TypeName): boolean {
  return /^u?int/.test(type);
}
