// The element types and the typed arrays that hold them.

import { oneOf, type Rule } from "../arguments/rule.js";
import { fail } from "../runtime/errors.js";

/** The element type of a tensor. */
export type DType =
  | "float32"
  | "float64"
  | "int32"
  | "int64"
  | "uint8"
  | "bool"
  | "complex64"
  | "complex128"
  | "float16"
  | "bfloat16";

/** Where a tensor's data is. */
export type Device = "cpu" | "webgpu";

/** The arrays tensor data is read into: half precision is Float32Array, bool Uint8Array, complex is interleaved floats. */
export type TypedArray = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array;

/** A complex number. */
export interface Complex {
  /** The real part. */
  readonly re: number;
  /** The imaginary part. */
  readonly im: number;
}

/** Whether a value is a complex number. */
export function isComplexNumber(value: unknown): value is Complex {
  if (typeof value !== "object" || value === null) return false;
  const { re, im } = value as Partial<Complex>;
  return typeof re === "number" && typeof im === "number";
}

/** All element types; the position is the code C++ uses. */
const kDTypes: readonly DType[] = [
  "float32",
  "float64",
  "int32",
  "int64",
  "uint8",
  "bool",
  "complex64",
  "complex128",
  "float16",
  "bfloat16",
];

const kDevices: readonly Device[] = ["cpu", "webgpu"];

/** An element type as an argument. */
export const dtypeRule: Rule<DType> = /* @__PURE__ */ oneOfDTypes(...kDTypes);

/** A device as an argument. */
export const deviceRule: Rule<Device> = /* @__PURE__ */ oneOf(...kDevices).advising(deviceAdvice);

// What element types are called elsewhere, and the one here that holds their values.
const kOtherDTypes: Readonly<Record<string, DType>> = {
  float: "float32",
  double: "float64",
  half: "float16",
  long: "int64",
  int: "int32",
  short: "int32",
  int16: "int32",
  char: "int32",
  int8: "int32",
  uint16: "int32",
  uint32: "int64",
  byte: "uint8",
  boolean: "bool",
  cfloat: "complex64",
  cdouble: "complex128",
  f16: "float16",
  fp16: "float16",
  bf16: "bfloat16",
  f32: "float32",
  fp32: "float32",
  f64: "float64",
  fp64: "float64",
  i32: "int32",
  i64: "int64",
  u8: "uint8",
};

/** Returns the rule of a choice of dtypes; messages name the one that is meant by another name. */
export function oneOfDTypes<T extends DType>(...choice: T[]): Rule<T> {
  return oneOf<T>(...choice).advising((value) => {
    const meant = dtypeMeantBy(value);
    return choice.some((one) => one === meant) ? ` Write ${JSON.stringify(meant)}.` : "";
  });
}

function dtypeMeantBy(value: unknown): DType | undefined {
  const name = (typeof value === "string" ? value : "").replace(/^.*\./, "").toLowerCase();
  if (Object.hasOwn(kOtherDTypes, name)) return kOtherDTypes[name];
  return kDTypes.find((one) => one === name);
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
} as const;

/** Elements as they lie in memory, where those of half precision are bits. */
export type StoredArray = TypedArray | Uint16Array;

/** Returns the code of an element type; throws InvalidArgument for an unknown name. */
export function dtypeCode(dtype: unknown, where: string): number {
  const code = kDTypes.indexOf(dtype as DType);
  return code < 0 ? kDTypes.indexOf(dtypeRule.check(where, "dtype", dtype)) : code;
}

/** Returns the element type of a code. */
export function dtypeOf(code: number | undefined): DType {
  return kDTypes[code ?? -1] ?? fail("Internal", "dtype", `unknown code ${code}.`);
}

/** Returns the device of a code. */
export function deviceOf(code: number | undefined): Device {
  return kDevices[code ?? -1] ?? fail("Internal", "device", `unknown code ${code}.`);
}

/** Returns the code of a device as an argument. */
export function deviceCode(device: unknown, where: string): number {
  return kDevices.indexOf(deviceRule.or("cpu").check(where, "device", device));
}

/** True for types whose elements are pairs of floats. */
export function isComplex(dtype: DType): boolean {
  return dtype === "complex64" || dtype === "complex128";
}

/** True for the types that can require a gradient and print with a decimal point. */
export function isFloat(dtype: DType): boolean {
  return dtype === "float32" || dtype === "float64" || isHalf(dtype);
}

/** True for the types of two bytes, which are computed in float32. */
export function isHalf(dtype: DType): boolean {
  return dtype === "float16" || dtype === "bfloat16";
}

/** Returns how many typed-array elements an element takes: 2 for complex. */
export function partsOf(dtype: DType): number {
  return isComplex(dtype) ? 2 : 1;
}

/** True for a number that an int64 holds. */
export function fitsInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** True for a number without a fraction that an int64 holds. */
export function isInt64(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= -(2 ** 63) && (value as number) < 2 ** 63;
}

/** Returns the bytes of one element. */
export function itemSize(dtype: DType): number {
  return kArrays[dtype].BYTES_PER_ELEMENT * partsOf(dtype);
}

/** Makes a zeroed array for `count` elements; throws OutOfMemory when there can be none. */
export function newArray(dtype: DType, count: number, where: string): StoredArray {
  const length = count * partsOf(dtype);
  const bytes = length * kArrays[dtype].BYTES_PER_ELEMENT;
  // JavaScript would fill more for seconds, to be told at the end that no tensor is as large.
  if (bytes > kMaxTensorBytes) {
    fail("OutOfMemory", where, `${bytes} bytes wanted; a tensor has at most ${kMaxTensorBytes}.`);
  }
  return allocated(where, bytes, () => {
    return new kArrays[dtype](length);
  });
}

// What one block of a 32-bit memory can be; src/runtime/memory.cpp decides.
const kMaxTensorBytes = 2 ** 31 - 1;

/** Returns an array that `make` takes from JavaScript's memory, where a failure is a RangeError. */
export function allocated<T>(where: string, bytes: number, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return fail("OutOfMemory", where, `JavaScript has no room for an array of ${bytes} bytes.`);
  }
}

/** Makes a view for `count` elements at `address` of the module's memory. */
export function viewMemory(
  dtype: DType,
  memory: ArrayBufferLike,
  address: number,
  count: number,
): StoredArray {
  // Shared or not, which the array's type does not say.
  return new kArrays[dtype](memory as ArrayBuffer, address, count * partsOf(dtype));
}
