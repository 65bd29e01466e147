// Shapes and axes, as bodies of composites read them.

import { reshape } from "../generated/ops.js";
import { fail } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";

/** The axis that `dim` means, counted from the end where it is negative; IndexOutOfRange beyond both. */
export function axisOf(where: string, dim: number, ndim: number): number {
  const most = Math.max(ndim, 1);
  if (dim >= -most && dim < most) return dim < 0 ? dim + most : dim;
  const told = `Dimension out of range (expected to be in range of [${-most}, ${most - 1}], but got ${dim})`;
  return fail("IndexOutOfRange", where, `dim: ${told}.`);
}

/** The size of a tensor along an axis. */
export function sizeOf(tensor: Tensor, axis: number): number {
  return tensor.shape[axis] ?? 1;
}

/** A view with as many dimensions at least, as numpy adds them: in front, but for the third, which stands behind. */
export function withLeast(tensor: Tensor, ndim: 1 | 2 | 3): Tensor {
  const front = Array<number>(Math.max(Math.min(ndim, 2) - tensor.ndim, 0)).fill(1);
  const isFlat = ndim === 3 && tensor.ndim < 3;
  return reshape(tensor, [...front, ...tensor.shape, ...(isFlat ? [1] : [])]);
}

// More would take JavaScript seconds, or all of its memory.
const kMostInList = 2 ** 24;

/** A list of as many values; OutOfMemory where there is no room for it. */
export function listOf<T>(where: string, count: number, valueAt: (i: number) => T): T[] {
  checkRoom(where, count);
  return Array.from({ length: count }, (_, i) => valueAt(i));
}

/** Throws OutOfMemory where there is no room for a list of as many values. */
export function checkRoom(where: string, count: number): void {
  if (count <= kMostInList) return;
  fail("OutOfMemory", where, `a list of ${count} values wanted; ${kMostInList} are the most.`);
}
