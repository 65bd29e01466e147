// Small constants and shapes, which are plain JavaScript values: arithmetic on shapes makes no tensors.

import * as eg from "edgegrad";
import { fail } from "../errors.js";
import type { TypeName } from "../proto/types.js";
import { dtypeOf, markAs } from "./types.js";

/** An array of numbers (truth values are 0 and 1) or texts, in C order. */
export class Host<Item extends number | string = number | string> {
  constructor(
    readonly type: TypeName,
    readonly shape: readonly number[],
    readonly data: readonly Item[],
  ) {}
}

/** The most elements that are kept as a Host. */
export const kMostHostElements = 256;

/** Whether a value is an array of numbers in JavaScript. */
export function isNumbers(value: unknown): value is Host<number> {
  return value instanceof Host && value.type !== "string";
}

/** Whether a value is an array of texts. */
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

/** Returns the tensor with these values. */
export function tensorOf(host: Host, device: eg.Device): eg.Tensor {
  const dtype = dtypeOf(host.type);
  if (dtype === null) {
    fail("DtypeMismatch", "OnnxModule", "expected numbers, got an array of texts.");
  }
  const shape = [...host.shape];
  const made =
    dtype === "int64"
      ? eg.tensor(BigInt64Array.from(host.data, bigintOf), { shape, device })
      : eg.tensor(Float64Array.from(host.data, Number), { shape, dtype, device });
  return markAs(made, host.type);
}

// Numbers beyond int64 stand for its ends, which files use for "to the end".
function bigintOf(value: number | string): bigint {
  const number = Number(value);
  if (number >= 2 ** 63) return 2n ** 63n - 1n;
  return number < -(2 ** 63) ? -(2n ** 63n) : BigInt(Math.trunc(number));
}
