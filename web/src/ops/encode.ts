// Writing an op's arguments into the call frame (the convention is in runtime/native.ts).

import { callFrame, reserveFrame } from "../runtime/bridge.js";
import { fail, refusal } from "../runtime/errors.js";
import { dtypeCode, isComplexNumber } from "../tensor/dtype.js";
import { handleOf } from "../tensor/info.js";
import { Tensor } from "../tensor/tensor.js";
import { Kind, type Op, type Parameter } from "./signature.js";

const kFloat = 1;
const kInt = 2;
const kBool = 3;
const kBigInt = 4;
const kComplex = 5;

// What the arguments after a list may take without asking for room again.
const kSpareWords = 64;

/** Writes the values of an op's parameters; returns the number of words. */
export function encode(op: Op, values: readonly unknown[]): number {
  const { kinds } = op;
  const count = values.length;
  let frame = callFrame();
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
      case Kind.Tensors: {
        const handles = toHandles(op, i, value);
        frame = withRoom(frame, at, handles.length);
        at = writeList(frame, at, handles);
        break;
      }
      case Kind.Ints: {
        const ints = toInts(op, i, value);
        frame = withRoom(frame, at, ints.length);
        at = writeList(frame, at, ints);
        break;
      }
      default:
        at = writeOther(frame, at, op, i, value);
    }
  }
  return writeTail(frame, at, op, count);
}

// The rarer kinds.
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
    case Kind.OptionalOperand:
      if (value === null) {
        frame[at] = -1;
        return at + 1;
      }
      if (!(value instanceof Tensor)) return writeScalar(frame, at, op, i, value);
      frame[at] = 0;
      frame[at + 1] = handleOf(value);
      return at + 2;
    case Kind.OptionalInts:
      if (value !== null) return writeList(frame, at, toInts(op, i, value));
      frame[at] = -1;
      return at + 1;
    case Kind.OptionalNumbers:
      if (value !== null) return writeList(frame, at, toNumbers(op, i, value));
      frame[at] = -1;
      return at + 1;
    case Kind.Padding:
      if (typeof value !== "string") return writeList(frame, at, toInts(op, i, value));
      frame[at] = toPadding(op, i, value);
      return at + 1;
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
    frame[at] = Number.isSafeInteger(value) && !Object.is(value, -0) ? kInt : kFloat;
    frame[at + 1] = value;
    return at + 2;
  }
  if (typeof value === "boolean") {
    frame[at] = kBool;
    frame[at + 1] = value ? 1 : 0;
    return at + 2;
  }
  if (typeof value === "bigint") return writeBigInt(frame, at, value);
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
  frame[at + 1] = Number(BigInt.asIntN(64, value) >> 32n);
  frame[at + 2] = Number(value & 0xffffffffn);
  return at + 3;
}

function writeList(frame: Float64Array, at: number, values: readonly number[]): number {
  frame[at] = values.length;
  for (let k = 0; k < values.length; k++) frame[at + 1 + k] = values[k] ?? 0;
  return at + 1 + values.length;
}

function withRoom(frame: Float64Array, at: number, count: number): Float64Array {
  const words = at + 1 + count + kSpareWords;
  return words <= frame.length ? frame : reserveFrame(words);
}

// The defaults of the parameters from `first` on, which are the same words every time.
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
  const kind = op.kinds[i];
  if (kind === Kind.Ints) return writeList(words, at, toInts(op, i, value));
  if (kind === Kind.Operand) return writeScalar(words, at, op, i, value);
  return writeOther(words, at, op, i, value);
}

function toHandles(op: Op, i: number, value: unknown): number[] {
  if (!Array.isArray(value)) return reject(op, i, "an array of tensors", value);
  return value.map((tensor: unknown) => toHandle(op, i, tensor));
}

function toHandle(op: Op, i: number, value: unknown): number {
  if (!(value instanceof Tensor)) rejectTensor(op, i, value);
  return handleOf(value);
}

function toInts(op: Op, i: number, value: unknown): number[] {
  const values = Array.isArray(value) ? value : [value];
  return values.map((one: unknown) => toInt(op, i, one));
}

function toNumbers(op: Op, i: number, value: unknown): number[] {
  const values = Array.isArray(value) ? value : [value];
  return values.map((one: unknown) => toNumber(op, i, one));
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
  if (typeof value === "bigint") return Number(value);
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
  return reject(op, i, `one of ${choices.map((one) => JSON.stringify(one)).join(", ")}`, value);
}

function expectationOf(parameter: Parameter): string {
  if (parameter.kind === Kind.Tensor) return "a tensor";
  if (parameter.kind === Kind.Operand) return "a tensor or a number";
  return "a value";
}

function rejectTensor(op: Op, i: number, value: unknown): never {
  reject(op, i, "a tensor", value);
}

function reject(op: Op, i: number, expected: string, value: unknown): never {
  fail("InvalidArgument", op.name, refusal(op.parameters[i]?.name ?? String(i), expected, value));
}
