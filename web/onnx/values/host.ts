// Small constants and shapes are plain JavaScript values, so that arithmetic on shapes creates no tensors.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { TypeName } from "../proto/types.js";
import { dtypeOf, markAs } from "./types.js";

/** An array of numbers (booleans are 0 and 1) or strings, in C order. */
export class Host<Item extends number | string = number | string> {
  constructor(
    readonly type: TypeName,
    readonly shape: readonly number[],
    readonly data: readonly Item[],
  ) {}
}

/** The largest number of elements that stay in a Host. */
export const kMostHostElements = 256;

/** Whether a value is a JavaScript array of numbers. */
export function isNumbers(value: unknown): value is Host<number> {
  return value instanceof Host && value.type !== "string";
}

/** Whether a value is an array of strings. */
export function isTexts(value: unknown): value is Host<string> {
  return value instanceof Host && value.type === "string";
}

/** Returns an int64 list. */
export function hostInts(values: readonly number[]): Host<number> {
  return new Host("int64", [values.length], values);
}

/** Returns an int64 scalar. */
export function hostInt(value: number): Host<number> {
  return new Host("int64", [], [value]);
}

/** Returns the tensor with these values; `dtype` replaces the one that stores their type. */
export function tensorOf(host: Host, device: eg.Device, dtype = dtypeOf(host.type)): eg.Tensor {
  if (dtype === null) {
    fail("DtypeMismatch", "OnnxModule", "expected numbers, got an array of strings.");
  }
  const shape = [...host.shape];
  const made =
    dtype === "int64"
      ? eg.tensor(BigInt64Array.from(host.data, bigintOf), { shape, device })
      : eg.tensor(Float64Array.from(host.data, Number), { shape, dtype, device });
  return dtype === dtypeOf(host.type) ? markAs(made, host.type) : made;
}

// Numbers beyond int64 are clamped to its range: files use them to mean "to the end".
function bigintOf(value: number | string): bigint {
  const number = Number(value);
  if (number >= 2 ** 63) return 2n ** 63n - 1n;
  return number < -(2 ** 63) ? -(2n ** 63n) : BigInt(Math.trunc(number));
}
