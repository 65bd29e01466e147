// Writing an op's arguments into the call frame (the convention is in runtime/bridge/native.ts).

import { callFrame, frameUses, reserveFrame } from "../runtime/bridge/bridge.js";
import { fail, refusal } from "../runtime/errors/errors.js";
import { dtypeCode, fitsInt64, isComplexNumber, isInt64 } from "../tensor/dtype.js";
import { handleOf } from "../tensor/info.js";
import { Tensor } from "../tensor/tensor.js";
import { adviceForArray } from "./advice.js";
import { Kind, type Op, type Parameter, usageOf } from "./signature.js";

const kFloat = 1;
const kInt = 2;
const kBool = 3;
const kBigInt = 4;
const kComplex = 5;

// Written in place of the length when an optional list is left out.
const kNone = -1;

// Room that is reserved after a list for the arguments that follow it.
const kSpareWords = 64;

/** Writes the values of an op's parameters; returns the number of words. */
export function encode(op: Op, values: readonly unknown[]): number {
  const { kinds } = op;
  const count = values.length;
  let frame = callFrame();
  const use = frameUses;
  let at = 0;
  for (let i = 0; i < count; i++) {
    const value = values[i];
    switch (kinds[i]) {
      case Kind.Tensor:
        if (!(value instanceof Tensor)) rejectTensor(op, i, value);
        frame[at++] = handleOf(value);
        break;
      case Kind.Operand:
        if (value instanceof Tensor) {
          frame[at++] = 0;
          frame[at++] = handleOf(value);
        } else {
          at = writeScalar(frame, at, op, i, value);
        }
        break;
      case Kind.Tensors:
      case Kind.Ints:
      case Kind.OptionalInts:
      case Kind.OptionalNumbers:
      case Kind.Sizes:
      case Kind.Padding: {
        const list = toList(op, i, value);
        frame = withRoom(frame, at, list);
        at = writeList(frame, at, list);
        break;
      }
      default:
        at = writeOther(frame, at, op, i, value);
    }
  }
  if (frameUses !== use) failOnUse(op);
  return writeTail(frame, at, op, count);
}

// A getter or a Proxy among the values runs code during encoding, which may have overwritten the frame.
function failOnUse(op: Op): never {
  fail(
    "InvalidArgument",
    op.name,
    "reading an argument ran tensor operations, through a getter or a Proxy: pass plain numbers and arrays.",
  );
}

// The less frequent kinds, each of which takes only a few words.
function writeOther(frame: Float64Array, at: number, op: Op, i: number, value: unknown): number {
  switch (op.kinds[i]) {
    case Kind.OptionalTensor:
      frame[at] = value === null ? 0 : toHandle(op, i, value);
      return at + 1;
    case Kind.Int:
      frame[at] = toInt(op, i, value);
      return at + 1;
    case Kind.Number:
      frame[at] = toNumber(op, i, value);
      return at + 1;
    case Kind.Bool:
      frame[at] = toBool(op, i, value);
      return at + 1;
    case Kind.DType:
      frame[at] = dtypeCode(value, op.name);
      return at + 1;
    case Kind.OptionalDType:
      frame[at] = value === null ? -1 : dtypeCode(value, op.name);
      return at + 1;
    case Kind.Choice:
      frame[at] = toChoice(op, i, value);
      return at + 1;
    case Kind.Scalar:
      return writeScalar(frame, at, op, i, value);
    case Kind.Any:
      return value === undefined ? reject(op, i, "a value", value) : at;
    case Kind.OptionalOperand:
      if (value === null) {
        frame[at] = -1;
        return at + 1;
      }
      if (!(value instanceof Tensor)) return writeScalar(frame, at, op, i, value);
      frame[at] = 0;
      frame[at + 1] = handleOf(value);
      return at + 2;
    default:
      return writeOptional(frame, at, op, i, value);
  }
}

// int? number? bool? scalar?: 0, or 1 and the value.
function writeOptional(frame: Float64Array, at: number, op: Op, i: number, value: unknown): number {
  frame[at] = value === null ? 0 : 1;
  if (value === null) return at + 1;
  const kind = op.kinds[i];
  if (kind === Kind.OptionalScalar) return writeScalar(frame, at + 1, op, i, value);
  const convert =
    kind === Kind.OptionalInt ? toInt : kind === Kind.OptionalBool ? toBool : toNumber;
  frame[at + 1] = convert(op, i, value);
  return at + 2;
}

function writeScalar(frame: Float64Array, at: number, op: Op, i: number, value: unknown): number {
  if (typeof value === "number") {
    const isWhole = isInt64(value) && !Object.is(value, -0);
    if (isWhole && !Number.isSafeInteger(value)) return writeBigInt(frame, at, BigInt(value));
    frame[at] = isWhole ? kInt : kFloat;
    frame[at + 1] = value;
    return at + 2;
  }
  if (typeof value === "boolean") {
    frame[at] = kBool;
    frame[at + 1] = value ? 1 : 0;
    return at + 2;
  }
  if (typeof value === "bigint") {
    if (!fitsInt64(value)) return reject(op, i, "a whole number of 64 bits", value);
    return writeBigInt(frame, at, value);
  }
  const isOperand = op.kinds[i] === Kind.Operand || op.kinds[i] === Kind.OptionalOperand;
  if (isOperand && isComplexNumber(value)) {
    frame[at] = kComplex;
    frame[at + 1] = value.re;
    frame[at + 2] = value.im;
    return at + 3;
  }
  return reject(op, i, isOperand ? "a tensor or a number" : "a number", value);
}

function writeBigInt(frame: Float64Array, at: number, value: bigint): number {
  frame[at] = kBigInt;
  frame[at + 1] = Number(value >> 32n);
  frame[at + 2] = Number(value & 0xffffffffn);
  return at + 3;
}

// The value of a list parameter: the list, or the single word that is written instead of one.
type List = readonly number[] | number;

function toList(op: Op, i: number, value: unknown): List {
  switch (op.kinds[i]) {
    case Kind.Tensors:
      if (value instanceof Tensor) refuseSpreadTensors(op);
      if (!Array.isArray(value)) return reject(op, i, "an array of tensors", value);
      return listOf(op, i, value, toHandle);
    case Kind.OptionalInts:
      return value === null ? kNone : listOf(op, i, value, toInt);
    case Kind.OptionalNumbers:
      return value === null ? kNone : listOf(op, i, value, toNumber);
    case Kind.Sizes:
      return Array.isArray(value) ? listOf(op, i, value, toSize) : [toInt(op, i, value)];
    case Kind.Padding:
      return typeof value === "string" ? toPadding(op, i, value) : listOf(op, i, value, toInt);
    default:
      return listOf(op, i, value, toInt);
  }
}

/** Throws InvalidArgument for tensors passed separately where an op takes an array of them. */
export function refuseSpreadTensors(op: Op): never {
  const { name } = op.parameters[op.kinds.indexOf(Kind.Tensors)] as Parameter;
  const message = `${name}: expected an array of tensors, got a single tensor. Write [a, b] for several.`;
  return fail("InvalidArgument", op.name, `${message} It is called as ${usageOf(op)}.`);
}

// A loop also visits the holes of an array, which map() skips.
function listOf(op: Op, i: number, value: unknown, convert: Convert): number[] {
  if (!Array.isArray(value)) return [convert(op, i, value)];
  const words: number[] = [];
  for (let k = 0; k < value.length; k++) words.push(convert(op, i, value[k]));
  return words;
}

type Convert = (op: Op, i: number, value: unknown) => number;

function writeList(frame: Float64Array, at: number, list: List): number {
  if (typeof list === "number") {
    frame[at] = list;
    return at + 1;
  }
  frame[at] = list.length;
  for (let k = 0; k < list.length; k++) frame[at + 1 + k] = list[k] ?? 0;
  return at + 1 + list.length;
}

// Returns the frame with room for a list and for the arguments that may follow it.
function withRoom(frame: Float64Array, at: number, list: List): Float64Array {
  if (typeof list === "number") return frame;
  const words = at + 1 + list.length + kSpareWords;
  return words <= frame.length ? frame : reserveFrame(words);
}

// Writes the defaults of the parameters from `first` on; their words are cached because they never change.
function writeTail(frame: Float64Array, at: number, op: Op, first: number): number {
  const tail = op.tails[first] ?? encodeTail(op, first);
  for (let k = 0; k < tail.length; k++) frame[at + k] = tail[k] ?? 0;
  return at + tail.length;
}

function encodeTail(op: Op, first: number): readonly number[] {
  const words = new Float64Array(kSpareWords);
  let at = 0;
  for (let i = first; i < op.parameters.length; i++) {
    const parameter = op.parameters[i] as Parameter;
    if (parameter.isRequired) reject(op, i, expectationOf(parameter), undefined);
    at = writeDefault(words, at, op, i, parameter.defaultValue);
  }
  const tail = Array.from(words.subarray(0, at));
  op.tails[first] = tail;
  return tail;
}

function writeDefault(words: Float64Array, at: number, op: Op, i: number, value: unknown): number {
  switch (op.kinds[i]) {
    case Kind.Ints:
    case Kind.OptionalInts:
    case Kind.OptionalNumbers:
    case Kind.Padding:
      return writeList(words, at, toList(op, i, value));
    case Kind.Operand:
      return writeScalar(words, at, op, i, value);
    default:
      return writeOther(words, at, op, i, value);
  }
}

function toHandle(op: Op, i: number, value: unknown): number {
  if (!(value instanceof Tensor)) rejectTensor(op, i, value);
  return handleOf(value);
}

// null, which keeps the size of the input, is passed to C++ as NaN.
function toSize(op: Op, i: number, value: unknown): number {
  return value === null ? Number.NaN : toInt(op, i, value);
}

function toPadding(op: Op, i: number, value: string): number {
  if (value === "valid") return -1;
  if (value === "same") return -2;
  return reject(op, i, 'whole numbers, "valid" or "same"', value);
}

function toInt(op: Op, i: number, value: unknown): number {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (Number.isSafeInteger(number)) return number as number;
  return reject(op, i, "a whole number", value);
}

function toNumber(op: Op, i: number, value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") {
    const number = Number(value);
    if (BigInt(number) === value) return number;
    return reject(op, i, "a number that float64 represents exactly (53 bits)", value);
  }
  return reject(op, i, "a number", value);
}

function toBool(op: Op, i: number, value: unknown): number {
  if (typeof value === "boolean") return value ? 1 : 0;
  return reject(op, i, "true or false", value);
}

function toChoice(op: Op, i: number, value: unknown): number {
  const choices = op.parameters[i]?.choices ?? [];
  const choice = choices.indexOf(value as string);
  if (choice >= 0) return choice;
  return reject(
    op,
    i,
    `one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`,
    value,
  );
}

function expectationOf(parameter: Parameter): string {
  if (parameter.kind === Kind.Tensor) return "a tensor";
  if (parameter.kind === Kind.Operand) return "a tensor or a number";
  return "a value";
}

function rejectTensor(op: Op, i: number, value: unknown): never {
  reject(op, i, "a tensor", value, adviceForArray(op.parameters[i]?.name ?? "", value));
}

function reject(op: Op, i: number, expected: string, value: unknown, advice = ""): never {
  const name = op.parameters[i]?.name ?? String(i);
  fail("InvalidArgument", op.name, refusal(name, expected, value) + advice);
}
