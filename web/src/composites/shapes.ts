// Helpers for shapes and axes in bodies of composites.

import { reshape } from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import type { Tensor } from "../tensor/tensor.js";

/** The axis for `dim`, which counts from the end if negative; throws IndexOutOfRange if there is no such axis. */
export function axisOf(where: string, dim: number, ndim: number): number {
  const most = Math.max(ndim, 1);
  if (dim >= -most && dim < most) return dim < 0 ? dim + most : dim;
  const reason = `expected a dimension from ${-most} to ${most - 1}, got ${dim}`;
  return fail("IndexOutOfRange", where, `dim: ${reason}.`);
}

/** The size of a tensor along an axis. */
export function sizeOf(tensor: Tensor, axis: number): number {
  return tensor.shape[axis] ?? 1;
}

/** A view with at least `ndim` dimensions. As in NumPy, new ones are added in front, except the third, which is added at the end. */
export function withLeast(tensor: Tensor, ndim: 1 | 2 | 3): Tensor {
  const front = Array<number>(Math.max(Math.min(ndim, 2) - tensor.ndim, 0)).fill(1);
  const isFlat = ndim === 3 && tensor.ndim < 3;
  return reshape(tensor, [...front, ...tensor.shape, ...(isFlat ? [1] : [])]);
}

// Longer lists would take JavaScript seconds, or all of its memory.
const kMostInList = 2 ** 24;

/** A list of `count` values; throws OutOfMemory if it would be too long. */
export function listOf<T>(where: string, count: number, valueAt: (i: number) => T): T[] {
  checkLength(where, count);
  return Array.from({ length: count }, (_, i) => valueAt(i));
}

/** Throws OutOfMemory if a list of `count` values would be too long. */
export function checkLength(where: string, count: number): void {
  if (count <= kMostInList) return;
  fail(
    "OutOfMemory",
    where,
    `needs a list of ${count} values, which can have at most ${kMostInList}.`,
  );
}
