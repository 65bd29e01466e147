// Axes, which ONNX counts from the end when they are negative.

import { fail } from "../errors.js";

/** Returns an axis of a tensor with this many, counted from the first. */
export function axisOf(axis: number, rank: number): number {
  const result = axis < 0 ? axis + rank : axis;
  if (Number.isInteger(result) && result >= 0 && result < Math.max(rank, 1)) return result;
  return fail("IndexOutOfRange", "OnnxModule", `axis ${axis} of a tensor with ${rank} axes.`);
}

/** Returns axes counted from the first; all of them if none are given. */
export function axesOf(axes: readonly number[] | undefined, rank: number): number[] {
  return axes === undefined ? range(rank) : axes.map((axis) => axisOf(axis, rank));
}

/** Returns 0, 1, ... below `count`. */
export function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
