// Elements in the module's memory, and their values in JavaScript.

import { checked, native, wasmBuffer } from "../runtime/bridge/bridge.js";
import { fail } from "../runtime/errors/errors.js";
import {
  type Complex,
  type DType,
  isComplex,
  realDtype,
  type StoredArray,
  viewMemory,
} from "./dtype.js";
import { geometryOf, handleOf } from "./info.js";
import type { Tensor } from "./tensor.js";

/** One element as a JavaScript value: an integer beyond 53 bits is a bigint. */
export type Item = number | bigint | boolean | Complex;

/** Returns the value of a tensor of one element. */
export function readItem(tensor: Tensor): Item {
  const { dtype, numel, shape } = geometryOf(tensor);
  if (numel !== 1) {
    fail(
      "InvalidArgument",
      "item",
      `expected a tensor with one element, got ${numel} (shape [${shape}]). Use data() or array().`,
    );
  }
  return itemAt(elementsOf(tensor, dtype, 1), 0, dtype);
}

let observer: ((tensor: Tensor) => void) | null = null;

/** Runs `fn`; meanwhile `next` learns of every tensor whose elements JavaScript reads before it goes on. */
export function readsObservedBy<T>(next: typeof observer, fn: () => T): T {
  const before = observer;
  observer = next;
  try {
    return fn();
  } finally {
    observer = before;
  }
}

/** Returns a view of `count` elements starting at a tensor's first; valid until the next native call. */
export function elementsOf(tensor: Tensor, dtype: DType, count: number): StoredArray {
  observer?.(tensor);
  const address = checked(native.dataAddress(handleOf(tensor)));
  return viewMemory(dtype, wasmBuffer(), count === 0 ? 0 : address, count);
}

/** Returns one element of an array of `dtype` elements. */
export function itemAt(elements: StoredArray, index: number, dtype: DType): Item {
  if (isComplex(dtype)) {
    const part = (at: number) => itemAt(elements, 2 * index + at, realDtype(dtype)) as number;
    return { re: part(0), im: part(1) };
  }
  const value = elements[index] ?? 0;
  if (dtype === "bool") return value !== 0;
  if (dtype === "float16") return fromFloat16(value as number);
  if (dtype === "bfloat16") return fromBFloat16(value as number);
  if (dtype === "float8_e5m2") return fromFloat16((value as number) << 8);
  if (dtype === "float8_e4m3fn") return fromFloat8(value as number);
  return typeof value === "bigint" ? safeNumber(value) : value;
}

const kBits = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(4));

function fromBFloat16(bits: number): number {
  kBits.setUint32(0, bits << 16);
  return kBits.getFloat32(0);
}

function fromFloat16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function fromFloat8(bits: number): number {
  const sign = bits & 0x80 ? -1 : 1;
  const exponent = (bits >> 3) & 0xf;
  const fraction = bits & 7;
  if ((bits & 0x7f) === 0x7f) return Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -9;
  return sign * (1 + fraction / 8) * 2 ** (exponent - 7);
}

function safeNumber(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
