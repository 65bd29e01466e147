// The values on the edges of a graph, and how ops read them.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { TypeName } from "../proto/types.js";
import { Host, isNumbers, isTexts, tensorOf } from "./host.js";
import { isEmulated, typeOf } from "./types.js";

/** A tensor, a JavaScript array, a sequence, null for an optional without a value, or undefined for an omitted input. */
export type Value = eg.Tensor | Host | readonly Value[] | null | undefined;

const kWhere = "OnnxModule";

let device: eg.Device = "cpu";

/** Runs `fn` with `wanted` as the device on which numbers become tensors. */
export function onDevice<T>(wanted: eg.Device, fn: () => T): T {
  const before = device;
  device = wanted;
  try {
    return fn();
  } finally {
    device = before;
  }
}

/** The device on which numbers become tensors. */
export function currentDevice(): eg.Device {
  return device;
}

/** Returns an input as a tensor. */
export function tensor(value: Value): eg.Tensor {
  if (value instanceof eg.Tensor) return value;
  if (value instanceof Host) return tensorOf(value, device);
  return fail("InvalidArgument", kWhere, `expected a tensor as an input, got ${named(value)}.`);
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
  const one = tensor(value).detach();
  const data = one.dtype === "bfloat16" || one.dtype === "float16" ? one.to("float32") : one;
  return new Host(typeOf(one), one.shape, Array.from(data.dataSync(), Number));
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
  return fail("InvalidArgument", kWhere, `expected a sequence as an input, got ${named(value)}.`);
}

/** Returns an input as strings. */
export function texts(value: Value): Host<string> {
  if (isTexts(value)) return value;
  return fail("DtypeMismatch", kWhere, `expected strings as an input, got ${named(value)}.`);
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

function named(value: Value): string {
  if (value === undefined) return "nothing";
  if (value === null) return "an optional without a value";
  if (value instanceof Host) return "an array of strings";
  return value instanceof eg.Tensor ? "a tensor" : "a sequence";
}
