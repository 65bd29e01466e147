// The tensors in a file as values: every way in which a file can hold their elements.

import * as eg from "edgegrad";
import { fail } from "../errors.js";
import type { Message } from "../proto/schema.js";
import type { TypeName } from "../proto/types.js";
import { Host } from "../values/host.js";
import { dtypeOf, isInteger, markAs, typeNumbered } from "../values/types.js";
import { float4, float8, halfFloats, nibbles, upperHalves } from "./small_floats.js";

const kWhere = "onnx.load";

/** The most elements of a tensor, so that sizes in bytes stay exact and below what a tensor can have. */
const kMostElements = 2 ** 31;

/** Bits of one element in raw data. */
const kBits: Readonly<Record<TypeName, number>> = {
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
};

/** A tensor of a file, whose element type and sizes have been checked. */
export interface Stored {
  readonly message: Message<"Tensor">;
  readonly type: TypeName;
  readonly shape: number[];
  readonly count: number;
  /** The bytes of a tensor whose data is in another file. */
  readonly external: Uint8Array | undefined;
}

/** Checks a tensor of a file against its own data, and returns it. `external` is the data of one that is in another file. */
export function stored(message: Message<"Tensor">, external?: Uint8Array): Stored {
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
  const result = { message, type, shape, count, external };
  const found = lengthOf(result);
  if (found !== expectedLength(result)) {
    const what = isRaw(result) ? "bytes" : "numbers";
    const text = `tensor "${name}" of type ${type} and shape [${shape}] needs ${expectedLength(result)} ${what}, got ${found}.`;
    return fail("InvalidArgument", kWhere, text);
  }
  return result;
}

/** Returns the elements as an array in JavaScript. */
export function hostOf(one: Stored): Host {
  const { type, shape } = one;
  if (type === "string") return new Host(type, shape, one.message.stringData.map(textOf));
  return new Host(type, shape, Array.from(numbersOf(one), Number));
}

/** Returns the elements as a tensor. */
export function tensorOfStored(one: Stored): eg.Tensor {
  const dtype = dtypeOf(one.type) ?? fail("Internal", kWhere, "texts are no tensor.");
  const data = numbersOf(one);
  return markAs(eg.tensor(data, { dtype, shape: one.shape }), one.type);
}

function isRaw({ message, external }: Stored): boolean {
  return external !== undefined || message.rawData !== undefined;
}

function lengthOf(one: Stored): number {
  const { message, external } = one;
  if (one.type === "string") return message.stringData.length;
  const raw = external ?? message.rawData;
  return raw === undefined ? listOf(one).length : raw.length;
}

function expectedLength(one: Stored): number {
  if (one.type !== "string" && isRaw(one)) return byteLength(one.type, one.count);
  if (kBits[one.type] === 4) return Math.ceil(one.count / 2);
  return one.type.startsWith("complex") ? one.count * 2 : one.count;
}

/** Returns the bytes that elements of a type take in raw data. */
export function byteLength(type: TypeName, count: number): number {
  return Math.ceil((count * kBits[type]) / 8);
}

// The field that has the elements when they are not bytes.
function listOf({ type, message }: Stored): readonly (number | bigint)[] {
  if (type === "float" || type === "complex64") return message.floatData;
  if (type === "double" || type === "complex128") return message.doubleData;
  if (type === "int64") return message.int64Data;
  return type === "uint32" || type === "uint64" ? message.uint64Data : message.int32Data;
}

/** Returns the elements as a typed array from which eg.tensor() makes them. */
function numbersOf(
  one: Stored,
): eg.TypedArray | Int8Array | Int16Array | Uint16Array | Uint32Array {
  const { type, message, external, count } = one;
  const raw = external ?? message.rawData;
  return raw === undefined ? fromList(one) : fromBytes(type, raw, count);
}

function fromList(one: Stored): ReturnType<typeof numbersOf> {
  const list = listOf(one);
  const { type, count } = one;
  if (type === "float" || type === "complex64") return Float32Array.from(list, Number);
  if (type === "double" || type === "complex128") return Float64Array.from(list, Number);
  if (type === "int64" || type === "uint64") return BigInt64Array.from(list, BigInt);
  if (type === "uint32") return Uint32Array.from(list, Number);
  if (isInteger(type) && kBits[type] >= 8) return Int32Array.from(list, Number);
  // The others have their bits in the lowest part of an int32.
  const isWide = kBits[type] === 16;
  const bits = isWide ? Uint16Array.from(list, Number) : Uint8Array.from(list, Number);
  return fromBytes(type, new Uint8Array(bits.buffer), count);
}

function fromBytes(type: TypeName, raw: Uint8Array, count: number): ReturnType<typeof numbersOf> {
  // Bytes of a file may lie anywhere, elements of an array may not.
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
    case "uint64":
      return new BigInt64Array(...at(8));
    case "float16":
      return halfFloats(new Uint16Array(...at(2)));
    case "bfloat16":
      return upperHalves(new Uint16Array(...at(2)));
    case "int4":
    case "uint4":
      return nibbles(raw, count, type === "int4");
    case "float4e2m1":
      return float4(nibbles(raw, count, false));
    case "bool":
    case "uint8":
      return raw;
    default:
      return float8(raw, type);
  }
}

// One buffer for all copies, each of which is read before the next one is made: new memory would take longer than the copy.
let scratch = new ArrayBuffer(0);

function alignedCopy(raw: Uint8Array): Uint8Array {
  if (scratch.byteLength < raw.length) scratch = new ArrayBuffer(raw.length);
  const copy = new Uint8Array(scratch, 0, raw.length);
  copy.set(raw);
  return copy;
}

/** Frees the memory that reading tensors has used. */
export function freeScratch(): void {
  scratch = new ArrayBuffer(0);
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(new Uint8Array(bytes));
