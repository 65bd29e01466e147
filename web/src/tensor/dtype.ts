// The element types and the typed arrays that hold them.

import { oneOf, type Rule } from "../arguments/rule.js";
import { type DType, kDTypes } from "../generated/border.js";
import { fail } from "../runtime/errors/errors.js";
import type { Bytes } from "./own_memory.js";

export { type Complex, isComplexNumber } from "../arguments/complex.js";
export type { DType } from "../generated/border.js";

/** The device that holds a tensor's data. */
export type Device = "cpu" | "webgpu";

/**
 * The typed arrays that tensor data is read into. Floats of 16 and 8 bits become a Float32Array, bool a Uint8Array, complex numbers
 * interleaved real and imaginary parts.
 */
export type TypedArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array;

const kDevices: readonly Device[] = ["cpu", "webgpu"];

/** An element type as an argument. */
export const dtypeRule: Rule<DType> = /* @__PURE__ */ oneOfDTypes(...kDTypes);

/** A device as an argument. */
export const deviceRule: Rule<Device> = /* @__PURE__ */ oneOf(...kDevices).advising(deviceAdvice);

// Names of element types in other libraries, and the type here that holds their values.
const kOtherDTypes: Readonly<Record<string, DType>> = {
  float: "float32",
  double: "float64",
  half: "float16",
  long: "int64",
  int: "int32",
  short: "int16",
  char: "int8",
  byte: "uint8",
  boolean: "bool",
  chalf: "complex32",
  cfloat: "complex64",
  cdouble: "complex128",
  f16: "float16",
  fp16: "float16",
  bf16: "bfloat16",
  f32: "float32",
  fp32: "float32",
  f64: "float64",
  fp64: "float64",
  i8: "int8",
  i16: "int16",
  i32: "int32",
  i64: "int64",
  u8: "uint8",
  u16: "uint16",
  u32: "uint32",
  u64: "uint64",
};

/** Returns a rule that accepts some dtypes; for another library's name, the message tells which dtype to use. */
export function oneOfDTypes<T extends DType>(...choice: T[]): Rule<T> {
  return oneOf<T>(...choice).advising((value) => {
    const nearest = dtypeMeantBy(value);
    return choice.some((dtype) => dtype === nearest) ? ` Write ${JSON.stringify(nearest)}.` : "";
  });
}

function dtypeMeantBy(value: unknown): DType | undefined {
  const name = (typeof value === "string" ? value : "").replace(/^.*\./, "").toLowerCase();
  if (Object.hasOwn(kOtherDTypes, name)) return kOtherDTypes[name];
  return kDTypes.find((type) => type === name);
}

function deviceAdvice(value: unknown): string {
  return typeof value === "string" && /^(cuda|gpu|mps|xpu)\b/i.test(value)
    ? ' The GPU is "webgpu".'
    : "";
}

const kArrays = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
  complex64: Float32Array,
  complex128: Float64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  int8: Int8Array,
  int16: Int16Array,
  complex32: Uint16Array,
  float8_e4m3fn: Uint8Array,
  float8_e5m2: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
} as const;

/** Elements as stored in memory: 16-bit floats are their bits. */
export type StoredArray = TypedArray;

/** Returns the code of an element type; throws InvalidArgument for an unknown name. */
export function dtypeCode(dtype: unknown, where: string): number {
  const code = kDTypes.indexOf(dtype as DType);
  return code < 0 ? kDTypes.indexOf(dtypeRule.check(where, "dtype", dtype)) : code;
}

/** Returns the element type with a code. */
export function dtypeOf(code: number | undefined): DType {
  return kDTypes[code ?? -1] ?? fail("Internal", "dtype", `unknown code ${code}.`);
}

/** Returns the device with a code. */
export function deviceOf(code: number | undefined): Device {
  return kDevices[code ?? -1] ?? fail("Internal", "device", `unknown code ${code}.`);
}

/** Returns the code of a device argument; throws InvalidArgument for an unknown name. */
export function deviceCode(device: unknown, where: string): number {
  return kDevices.indexOf(deviceRule.or("cpu").check(where, "device", device));
}

/** True for complex types, whose elements are pairs of floats. */
export function isComplex(dtype: DType): boolean {
  return dtype.startsWith("complex");
}

/** True for the real floating-point types. */
export function isFloat(dtype: DType): boolean {
  return dtype.includes("float");
}

/** Returns the dtype of the parts of a complex dtype, or the dtype itself. */
export function realDtype(dtype: DType): DType {
  if (dtype === "complex32") return "float16";
  if (dtype === "complex64") return "float32";
  return dtype === "complex128" ? "float64" : dtype;
}

/** Returns the dtype as which numbers of a dtype are read and written here: smaller floats as 32-bit ones. */
export function readDtype(dtype: DType): DType {
  if (dtype === "complex32") return "complex64";
  return isFloat(dtype) && itemSize(dtype) < 4 ? "float32" : dtype;
}

/** Returns the number of typed-array elements per tensor element: 2 for complex types, otherwise 1. */
export function partsOf(dtype: DType): number {
  return isComplex(dtype) ? 2 : 1;
}

/** True for a bigint that fits in an int64. */
export function fitsInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** True for an integer that fits in an int64. */
export function isInt64(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= -(2 ** 63) && (value as number) < 2 ** 63;
}

/** Returns the size of one element in bytes. */
export function itemSize(dtype: DType): number {
  return kArrays[dtype].BYTES_PER_ELEMENT * partsOf(dtype);
}

/** Returns a view of the bytes of an array. */
export function bytesIn(array: ArrayBufferView & { readonly buffer: ArrayBuffer }): Bytes;
export function bytesIn(array: ArrayBufferView): Uint8Array;
export function bytesIn({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Returns whether `array` has the type in which elements of `dtype` are stored. */
export function isStoredAs(dtype: DType, array: ArrayBufferView): array is StoredArray {
  return array.constructor === kArrays[dtype];
}

/** Makes a zeroed array for `count` elements; throws OutOfMemory when it is too large. */
export function newArray(dtype: DType, count: number, where: string): StoredArray {
  const length = count * partsOf(dtype);
  const bytes = length * kArrays[dtype].BYTES_PER_ELEMENT;
  // Without this check JavaScript could fill a larger array for seconds, only for the tensor to be rejected at the end.
  if (bytes > kMaxTensorBytes) {
    fail("OutOfMemory", where, `needs ${bytes} bytes; a tensor has at most ${kMaxTensorBytes}.`);
  }
  return allocated(where, bytes, () => {
    return new kArrays[dtype](length);
  });
}

// The largest block in a 32-bit memory; must match src/runtime/memory.cpp.
const kMaxTensorBytes = 2 ** 31 - 1;

/** Returns the array that `make` allocates; turns JavaScript's RangeError into OutOfMemory. */
export function allocated<T>(where: string, bytes: number, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return fail("OutOfMemory", where, `JavaScript cannot allocate an array of ${bytes} bytes.`);
  }
}

/** Makes a view of `count` elements at `address` in the module's memory. */
export function viewMemory(
  dtype: DType,
  memory: ArrayBufferLike,
  address: number,
  count: number,
): StoredArray {
  // The buffer may also be shared, which the constructor's type does not express.
  return new kArrays[dtype](memory as ArrayBuffer, address, count * partsOf(dtype));
}
