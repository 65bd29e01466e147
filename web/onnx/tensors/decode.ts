// Decodes the tensors of a file, in all the ways in which a file can store their elements.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { Message } from "../proto/schema.js";
import type { TypeName } from "../proto/types.js";
import type { OpenFile } from "../source.js";
import { Host } from "../values/host.js";
import { isInteger, typeNumbered } from "../values/types.js";
import {
  float4,
  float8,
  halfFloats,
  powersOfTwo,
  smallIntegers,
  upperHalves,
} from "./small_floats.js";

const kWhere = "onnx.load";

/** The limit on elements of a tensor, so that sizes in bytes are exact and tensors can have them. */
const kMostElements = 2 ** 31;

/** The bits of an element in raw data. */
export const kBits: Readonly<Record<TypeName, number>> = {
  float: 32,
  uint8: 8,
  int8: 8,
  uint16: 16,
  int16: 16,
  int32: 32,
  int64: 64,
  string: 0,
  bool: 8,
  float16: 16,
  double: 64,
  uint32: 32,
  uint64: 64,
  complex64: 64,
  complex128: 128,
  bfloat16: 16,
  float8e4m3fn: 8,
  float8e4m3fnuz: 8,
  float8e5m2: 8,
  float8e5m2fnuz: 8,
  uint4: 4,
  int4: 4,
  float4e2m1: 4,
  float8e8m0: 8,
  uint2: 2,
  int2: 2,
};

/** A tensor of a file with a checked element type and shape. */
export interface Stored {
  readonly message: Message<"Tensor">;
  readonly type: TypeName;
  readonly shape: number[];
  readonly count: number;
  /** The data that was read separately from the message. */
  readonly apart: Apart | undefined;
}

/** A range of a file that has not been read. */
export interface FilePart {
  readonly file: OpenFile;
  readonly start: number;
  readonly length: number;
}

/** Tensor data outside of its message: the bytes, their place in a file, or the tensor with their elements. */
export type Apart = Uint8Array | FilePart | eg.Tensor;

/** Frees the tensors among data that was read separately. */
export function disposeTensors(found: ReadonlyMap<Message<"Tensor">, Apart>): void {
  for (const value of found.values()) if (value instanceof eg.Tensor) value.dispose();
}

/** Checks that the data of a tensor of a file fits its type and shape, and returns it. `apart` is data outside of the message. */
export function storedTensor(message: Message<"Tensor">, apart?: Apart): Stored {
  const name = message.name ?? "";
  const type = typeNumbered(message.dataType);
  if (type === undefined) {
    return fail(
      "InvalidArgument",
      kWhere,
      `tensor "${name}" has the unknown type ${message.dataType}.`,
    );
  }
  const shape = message.dims.map(Number);
  const count = shape.reduce((product, size) => product * size, 1);
  if (!shape.every((size) => Number.isSafeInteger(size) && size >= 0) || !(count < kMostElements)) {
    return fail("InvalidArgument", kWhere, `tensor "${name}" has the impossible shape [${shape}].`);
  }
  const result = { message, type, shape, count, apart };
  const found = lengthOf(result);
  if (found !== expectedLength(result)) {
    const what = isRaw(result) ? "bytes" : "numbers";
    const text = `tensor "${name}" of type ${type} and shape [${shape}] needs ${expectedLength(result)} ${what}, got ${found}.`;
    return fail("InvalidArgument", kWhere, text);
  }
  return result;
}

/** Returns the elements as an array in JavaScript. */
export function hostOf(tensor: Stored): Host {
  const { type, shape } = tensor;
  if (type === "string") return new Host(type, shape, tensor.message.stringData.map(textOf));
  return new Host(type, shape, Array.from(numbersOf(tensor), Number));
}

function lengthOf(tensor: Stored): number {
  const { message, type, apart } = tensor;
  if (type === "string") return message.stringData.length;
  if (apart instanceof eg.Tensor) return expectedLength(tensor);
  return (apart ?? message.rawData ?? listOf(tensor)).length;
}

function isRaw({ message, apart }: Stored): boolean {
  return apart !== undefined || message.rawData !== undefined;
}

function expectedLength(tensor: Stored): number {
  if (tensor.type === "string") return tensor.count;
  if (isRaw(tensor) || kBits[tensor.type] < 8) return byteLength(tensor.type, tensor.count);
  return tensor.type.startsWith("complex") ? tensor.count * 2 : tensor.count;
}

/** Returns the bytes that elements of a type take in raw data. */
export function byteLength(type: TypeName, count: number): number {
  return Math.ceil((count * kBits[type]) / 8);
}

// The typed field with the elements, for a tensor without raw data.
function listOf({
  type,
  message,
}: Stored): Float32Array | Float64Array | BigInt64Array | Int32Array {
  if (type === "float" || type === "complex64") return message.floatData ?? new Float32Array();
  if (type === "double" || type === "complex128") return message.doubleData ?? new Float64Array();
  if (type === "int64") return message.int64Data ?? new BigInt64Array();
  if (type === "uint32" || type === "uint64") return message.uint64Data ?? new BigInt64Array();
  return message.int32Data ?? new Int32Array();
}

/** Returns the raw bytes of the elements; undefined if they are in a typed field. */
export function rawBytes({ message, apart }: Stored): Uint8Array | undefined {
  return apart instanceof Uint8Array ? apart : message.rawData;
}

/** Returns the elements as a typed array for eg.tensor(). */
export function numbersOf(tensor: Stored): Elements {
  const raw = rawBytes(tensor);
  return raw === undefined ? fromList(tensor) : elementsIn(tensor.type, raw, tensor.count);
}

type Elements = eg.TypedArray | Int8Array | Int16Array | Uint16Array | Uint32Array;

function fromList(tensor: Stored): Elements {
  const list = listOf(tensor);
  const { type, count } = tensor;
  if (list instanceof Float32Array || list instanceof Float64Array) return list;
  if (list instanceof BigInt64Array) {
    if (type === "int64") return list;
    return type === "uint64" ? withoutSign(list) : Uint32Array.from(list, Number);
  }
  if (isInteger(type) && kBits[type] >= 8) return list;
  // Other types store their bits in the low part of an int32.
  const isWide = kBits[type] === 16;
  const bits = isWide ? Uint16Array.from(list, Number) : Uint8Array.from(list, Number);
  return elementsIn(type, new Uint8Array(bits.buffer), count);
}

/** Returns the elements in raw bytes, which are valid until the next call. */
export function elementsIn(type: TypeName, raw: Uint8Array, count: number): Elements {
  // Typed arrays need aligned bytes, and those of a file may not be.
  const at = (size: number): [ArrayBuffer, number, number] => {
    const isAligned = raw.byteOffset % size === 0 && raw.buffer instanceof ArrayBuffer;
    const copy = isAligned ? raw : alignedCopy(raw);
    return [copy.buffer as ArrayBuffer, copy.byteOffset, copy.byteLength / size];
  };
  switch (type) {
    case "float":
    case "complex64":
      return new Float32Array(...at(4));
    case "double":
    case "complex128":
      return new Float64Array(...at(8));
    case "int8":
      return new Int8Array(...at(1));
    case "int16":
      return new Int16Array(...at(2));
    case "uint16":
      return new Uint16Array(...at(2));
    case "int32":
      return new Int32Array(...at(4));
    case "uint32":
      return new Uint32Array(...at(4));
    case "int64":
      return new BigInt64Array(...at(8));
    case "uint64":
      return withoutSign(new BigInt64Array(...at(8)));
    case "float16":
      return halfFloats(new Uint16Array(...at(2)));
    case "bfloat16":
      return upperHalves(new Uint16Array(...at(2)));
    case "int2":
    case "uint2":
    case "int4":
    case "uint4":
      return smallIntegers(raw, count, kBits[type], type.startsWith("i"));
    case "float4e2m1":
      return float4(smallIntegers(raw, count, 4, false));
    case "float8e8m0":
      return powersOfTwo(raw);
    case "bool":
    case "uint8":
      return raw;
    default:
      return float8(raw, type);
  }
}

// edgegrad stores uint64 as int64, which covers only half of its range.
function withoutSign(values: BigInt64Array): BigInt64Array {
  const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
  for (let i = 1; i < words.length; i += 2) {
    if ((words[i] as number) >= 0) continue;
    const value = BigInt.asUintN(64, values[(i - 1) / 2] as bigint);
    fail("InvalidArgument", kWhere, `expected uint64 elements below 2^63, got ${value}.`);
  }
  return values;
}

// One buffer for all copies, because each is used before the next is made: allocating would take longer than copying.
let scratch = new ArrayBuffer(0);

function alignedCopy(raw: Uint8Array): Uint8Array {
  if (scratch.byteLength < raw.length) scratch = new ArrayBuffer(raw.length);
  const copy = new Uint8Array(scratch, 0, raw.length);
  copy.set(raw);
  return copy;
}

/** Frees the buffer of aligned copies. */
export function freeScratch(): void {
  scratch = new ArrayBuffer(0);
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(new Uint8Array(bytes));
