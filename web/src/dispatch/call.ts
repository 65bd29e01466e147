// Calling an op: matching positional and named arguments with parameters, and wrapping the results.

import { areOptions } from "../arguments/read.js";
import { refuseOption } from "../arguments/unknown_option.js";
import { callFrame, frameOf, native, takeErrorFor, takeWords } from "../runtime/bridge/bridge.js";
import { kFailed } from "../runtime/bridge/native.js";
import { fail } from "../runtime/errors/errors.js";
import { Tensor, wrapperOf } from "../tensor/tensor.js";
import { writeCheck } from "../tensor/writes.js";
import { withInt64 } from "./class_numbers.js";
import { withComplex } from "./complex_numbers.js";
import { encode, refuseSpreadTensors } from "./encode.js";
import { interpreter } from "./interpreter.js";
import { opOf } from "./op_lines.js";
import { Kind, namesOf, type Op, usageOf } from "./signature.js";

/** Runs an op. */
export function callOp(op: Op, args: readonly unknown[]): Tensor | Tensor[] {
  const values = arrange(op, args);
  if (interpreter !== null) return interpreter.call(op, values, null) as Tensor | Tensor[];
  return invoke(op, values);
}

/** Runs an op in the engine; `values` are those of its parameters, in order. */
export function invoke(op: Op, values: readonly unknown[]): Tensor | Tensor[] {
  let count: number;
  try {
    count = native.invoke(op.id, encode(op, values), 0);
  } catch (error) {
    return invokeWithComplex(op, values, error);
  }
  if (count === kFailed) return invokeWithInt64(op, values, takeErrorFor(op.name));
  if (op.returns === "tensor") return resultOf(callFrame()[0] ?? 0);
  const tensors = takeTensors(count);
  return op.returns === "tensors" ? tensors : (unwrapOne(tensors) ?? tensors);
}

// Functions of their own: a function that makes closures allocates memory for their variables whenever it is called.
function invokeWithComplex(op: Op, values: readonly unknown[], error: unknown) {
  return withComplex(op, values, error, runOp, (real) => invoke(op, real));
}

function invokeWithInt64(op: Op, values: readonly unknown[], error: unknown) {
  return withInt64(op, values, error, (fixed) => invoke(op, fixed));
}

/** Runs an op that changes its first argument, and returns that argument. */
export function callInPlace(op: Op, args: readonly unknown[], flags: number): unknown {
  const values = arrange(op, args);
  if (interpreter !== null) return interpreter.call(op, values, flags);
  return invokeInPlace(op, values, flags);
}

/** Runs in the engine an op that changes its first value, and returns that value. */
export function invokeInPlace(op: Op, values: readonly unknown[], flags: number): unknown {
  if (writeCheck !== null && values[0] instanceof Tensor) writeCheck(op.name, values[0]);
  let count: number;
  try {
    count = native.invoke(op.id, encode(op, values), flags);
  } catch (error) {
    return invokeInPlaceWithComplex(op, values, flags, error);
  }
  if (count === kFailed) {
    return invokeInPlaceWithInt64(op, values, flags, takeErrorFor(op.name));
  }
  // The results are additional references to the arguments.
  const frame = frameOf(count);
  for (let i = 0; i < count; i++) native.release(Math.abs(frame[i] ?? 0));
  return values[0];
}

function invokeInPlaceWithComplex(
  op: Op,
  values: readonly unknown[],
  flags: number,
  error: unknown,
) {
  return withComplex(op, values, error, runOp, (real) => {
    if (real[0] === values[0]) return invokeInPlace(op, real, flags);
    // The target itself was multiplied.
    const result = invoke(op, real) as Tensor;
    try {
      return runOp(opOf("copy_"), [values[0], result]);
    } finally {
      result.dispose();
    }
  });
}

function invokeInPlaceWithInt64(op: Op, values: readonly unknown[], flags: number, error: unknown) {
  return withInt64(op, values, error, (fixed) => invokeInPlace(op, fixed, flags));
}

function runOp(op: Op, values: readonly unknown[]): unknown {
  return op.name.endsWith("_") ? invokeInPlace(op, values, 0) : invoke(op, values);
}

// Wraps the handles at the front of the frame.
function takeTensors(count: number): Tensor[] {
  return takeWords(count).map(resultOf);
}

// An op that has nothing to do returns its argument, as contiguous() does.
function resultOf(handle: number): Tensor {
  return handle < 0 ? wrapperOf(-handle) : new Tensor(handle);
}

function unwrapOne(tensors: readonly Tensor[]): Tensor | undefined {
  return tensors.length === 1 ? tensors[0] : undefined;
}

/** Returns the values of a call in the order of the parameters, without those left out at the end. */
export function arrange(op: Op, args: readonly unknown[]): readonly unknown[] {
  const last = args[args.length - 1];
  const isPlain = !isOptions(last) && last !== undefined;
  if (isPlain && args.length <= op.parameters.length && !hasSpreadInts(op, args)) {
    return hasGaps(args) ? fillGaps(op, [...args]) : args;
  }
  return arrangeSlowly(op, args);
}

function arrangeSlowly(op: Op, args: readonly unknown[]): readonly unknown[] {
  if (op.kinds[0] === Kind.Tensors && args[0] instanceof Tensor) refuseSpreadTensors(op);
  const values = [...args];
  const last = values[values.length - 1];
  const options = isOptions(last) ? last : null;
  if (options !== null) values.pop();
  if (hasSpreadInts(op, values)) gatherInts(op, values);
  while (values.length > 0 && values[values.length - 1] === undefined) values.pop();
  if (values.length > op.parameters.length) {
    fail("InvalidArgument", op.name, `too many arguments: it is called as ${usageOf(op)}.`);
  }
  if (options !== null) applyOptions(op, values, options);
  return fillGaps(op, values);
}

function applyOptions(op: Op, values: unknown[], options: Record<string, unknown>): void {
  const positional = values.length;
  for (const [name, value] of Object.entries(options)) {
    const i = op.parameters.findIndex((parameter) => parameter.name === name);
    if (i < 0) refuseOption(op.name, name, namesOf(op), `It is called as ${usageOf(op)}.`);
    if (value === undefined) continue;
    if (i < positional && values[i] !== undefined) {
      fail("InvalidArgument", op.name, `"${name}" was given twice, by position and by name.`);
    }
    while (values.length < i) values.push(undefined);
    values[i] = value;
  }
}

function hasGaps(args: readonly unknown[]): boolean {
  for (let i = 0; i < args.length; i++) if (args[i] === undefined || args[i] === null) return true;
  return false;
}

// undefined means that a parameter was left out; so does null, unless the parameter accepts null.
function fillGaps(op: Op, values: unknown[]): unknown[] {
  for (let i = 0; i < values.length; i++) {
    const parameter = op.parameters[i];
    const isGap =
      values[i] === undefined || (values[i] === null && parameter?.isNullable === false);
    if (isGap && parameter?.isRequired === false) values[i] = parameter.defaultValue;
  }
  return values;
}

/** areOptions(), faster for tensors. */
export function isOptions(value: unknown): value is Record<string, unknown> {
  // Most arguments end here, and this check is faster.
  if (typeof value !== "object" || value instanceof Tensor) return false;
  return areOptions(value);
}

// True for reshape(2, 3), which means reshape([2, 3]).
function hasSpreadInts(op: Op, args: readonly unknown[]): boolean {
  if (!op.isVariadic) return false;
  const i = op.kinds.indexOf(Kind.Ints);
  return isNumeric(args[i]) && isNumeric(args[i + 1]);
}

function isNumeric(value: unknown): boolean {
  return typeof value === "number" || typeof value === "bigint";
}

function gatherInts(op: Op, values: unknown[]): void {
  const start = op.kinds.indexOf(Kind.Ints);
  let end = start;
  while (isNumeric(values[end])) end++;
  values.splice(start, end - start, values.slice(start, end));
}
