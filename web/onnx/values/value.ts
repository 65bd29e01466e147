// The values on the edges of a graph, and how ops read them.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { TypeName } from "../proto/types.js";
import { Host, isNumbers, isTexts, tensorOf } from "./host.js";
import { dtypeOf, isEmulated, ownTypeOf, typeOf } from "./types.js";

/** Numbers by labels, which `ZipMap` returns. */
export type LabelMap = ReadonlyMap<string | number, number>;

/**
 * A tensor, a JavaScript array, a sequence, a map, null for an optional without a value, or undefined for an omitted input.
 */
export type Value = eg.Tensor | Host | readonly Value[] | LabelMap | null | undefined;

const kWhere = "OnnxModule";

/** Where and in which dtypes the ops of a call make tensors. */
interface Context {
  readonly device: eg.Device;
  /** The dtypes to which the module was converted, by those of the file: its constants and casts follow. */
  readonly kinds: ReadonlyMap<eg.DType, eg.DType>;
}

let context: Context = { device: "cpu", kinds: new Map() };

/** Runs `fn` in a context. */
export function within<T>(wanted: Context, fn: () => T): T {
  const before = context;
  context = wanted;
  try {
    return fn();
  } finally {
    context = before;
  }
}

/** The device on which numbers become tensors. */
export function currentDevice(): eg.Device {
  return context.device;
}

/** Returns the dtype that stores a type in this call: another one than in the file, if the module was converted. */
export function presentDType(type: TypeName): eg.DType {
  const dtype = dtypeOf(type) as eg.DType;
  return (ownTypeOf(dtype) === type && context.kinds.get(dtype)) || dtype;
}

/** Returns an input as a tensor. */
export function tensor(value: Value): eg.Tensor {
  if (value instanceof eg.Tensor) return value;
  if (value instanceof Host) {
    const dtype = value.type === "string" ? undefined : presentDType(value.type);
    return tensorOf(value, context.device, dtype);
  }
  return fail("InvalidArgument", kWhere, `expected a tensor as an input, got ${kindOf(value)}.`);
}

/** Returns an input as a tensor, or null if it was omitted. */
export function tensorOrNull(value: Value): eg.Tensor | null {
  return value === undefined || value === null ? null : tensor(value);
}

/** Returns an input as a number if that acts the same on a tensor of this rank, otherwise as a tensor. */
export function operand(value: Value, rank: number): eg.Tensor | number {
  const isNumber = isNumbers(value) && value.data.length === 1 && value.shape.length <= rank;
  return isNumber ? (value.data[0] as number) : tensor(value);
}

/** Returns the elements of an input as a JavaScript array; for a tensor, this waits for its device. */
export function host(value: Value): Host<number> {
  if (isNumbers(value)) return value;
  const x = tensor(value).detach();
  const data = x.dtype === "bfloat16" || x.dtype === "float16" ? x.to("float32") : x;
  return new Host(typeOf(x), x.shape, Array.from(data.dataSync(), Number));
}

/** Returns an input as a list of numbers; empty if it was omitted. */
export function hostOr(value: Value): readonly number[] {
  return value === undefined || value === null ? [] : host(value).data;
}

/** Returns an input as a list of integers; undefined if it was omitted. */
export function ints(value: Value): number[] | undefined {
  return value === undefined || value === null ? undefined : [...host(value).data];
}

/** Returns a required input as a list of integers. */
export function intsOf(value: Value, name: string): number[] {
  return ints(value) ?? fail("InvalidArgument", kWhere, `expected the input ${name}, got nothing.`);
}

/** Returns an input with one element as a number; undefined if it was omitted. */
export function number(value: Value): number | undefined {
  if (value === undefined || value === null) return undefined;
  const { data } = host(value);
  if (data.length !== 1) {
    fail("ShapeMismatch", kWhere, `expected one number as an input, got ${data.length}.`);
  }
  return data[0];
}

/** Returns an input as a sequence. */
export function sequence(value: Value): readonly Value[] {
  if (Array.isArray(value)) return value;
  return fail("InvalidArgument", kWhere, `expected a sequence as an input, got ${kindOf(value)}.`);
}

/** Returns an input as strings. */
export function texts(value: Value): Host<string> {
  if (isTexts(value)) return value;
  return fail("DtypeMismatch", kWhere, `expected strings as an input, got ${kindOf(value)}.`);
}

/** Returns the type of the elements of a tensor or array. */
export function elementType(value: Value): TypeName {
  return value instanceof Host ? value.type : typeOf(tensor(value));
}

/** Returns the sizes of a tensor or array. */
export function shapeOf(value: Value): readonly number[] {
  return value instanceof Host ? value.shape : tensor(value).shape;
}

/** Whether a value has an emulated type. */
export function isEmulatedValue(value: Value): boolean {
  return value instanceof eg.Tensor ? isEmulated(value) : false;
}

function kindOf(value: Value): string {
  if (value === undefined) return "nothing";
  if (value === null) return "an optional without a value";
  if (value instanceof Host) return "an array of strings";
  if (value instanceof Map) return "a map";
  return value instanceof eg.Tensor ? "a tensor" : "a sequence";
}
