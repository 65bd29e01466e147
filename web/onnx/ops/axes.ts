// Normalizes axes, which count from the end if they are negative.

import { fail } from "../../errors/errors.js";

/** Returns a nonnegative axis of a tensor with `rank` axes. */
export function axisOf(axis: number, rank: number): number {
  const result = axis < 0 ? axis + rank : axis;
  if (Number.isInteger(result) && result >= 0 && result < Math.max(rank, 1)) return result;
  return fail("IndexOutOfRange", "OnnxModule", `axis ${axis} of a tensor with ${rank} axes.`);
}

/** Returns nonnegative axes; all axes if none are given. */
export function axesOf(axes: readonly number[] | undefined, rank: number): number[] {
  return axes === undefined ? range(rank) : axes.map((axis) => axisOf(axis, rank));
}

/** Returns 0, 1, ... below `count`. */
export function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
