// The elements of tensors, compared one by one: exact also for int64, and the same for every dtype.

import { readStored } from "../ops/read.js";
import { type Item, itemAt } from "../tensor/elements.js";
import type { Tensor } from "../tensor/tensor.js";

/** A function that returns the elements of a tensor by their positions in row-major order. */
export function elementsIn(tensor: Tensor): (position: number) => Item {
  const { dtype } = tensor;
  const stored = readStored(tensor);
  return (position) => itemAt(stored, position, dtype);
}

/** Returns whether two elements are equal; NaN equals NaN if `equalNan`. */
export function areEqual(a: Item, b: Item, equalNan: boolean): boolean {
  if (a === b) return true;
  if (isNan(a) || isNan(b)) return equalNan && isNan(a) && isNan(b);
  if (typeof a === "object" || typeof b === "object") {
    const [x, y] = [complexOf(a), complexOf(b)];
    return x.re === y.re && x.im === y.im;
  }
  return isWhole(a) && isWhole(b) ? BigInt(a) === BigInt(b) : Number(a) === Number(b);
}

/** Returns the absolute value of a - b. */
export function differenceOf(a: Item, b: Item): number {
  if (typeof a === "object" || typeof b === "object") {
    const [x, y] = [complexOf(a), complexOf(b)];
    return Math.hypot(x.re - y.re, x.im - y.im);
  }
  // The difference of two large integers is lost if they are rounded first.
  if (isWhole(a) && isWhole(b)) return Math.abs(Number(BigInt(a) - BigInt(b)));
  return Math.abs(Number(a) - Number(b));
}

/** Returns the absolute value of an element. */
export function sizeOf(item: Item): number {
  return typeof item === "object" ? Math.hypot(item.re, item.im) : Math.abs(Number(item));
}

function isWhole(item: number | bigint | boolean): boolean {
  return typeof item !== "number" || Number.isSafeInteger(item);
}

function complexOf(item: Item): { re: number; im: number } {
  return typeof item === "object" ? item : { re: Number(item), im: 0 };
}

function isNan(item: Item): boolean {
  if (typeof item === "object") return Number.isNaN(item.re) || Number.isNaN(item.im);
  return Number.isNaN(item);
}
