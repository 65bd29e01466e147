// Positions of samples: what a sampler, a list of indices or a caller gives, against the number of samples.

import { describe, fail } from "../runtime/errors.js";
import { Tensor } from "../tensor/tensor.js";

/** Returns a position of one of `length` samples; `what` gave it, perhaps as an element of an int64 tensor. */
export function checkPosition(where: string, what: string, given: unknown, length: number): number {
  const item = given instanceof Tensor && given.ndim === 0 ? given.item() : given;
  const position = typeof item === "bigint" ? Number(item) : item;
  if (!Number.isSafeInteger(position)) {
    const told = `expected a whole number, the position of a sample, got ${describe(item)}.`;
    fail("InvalidArgument", where, `${what}: ${told}`);
  }
  if ((position as number) >= 0 && (position as number) < length) return position as number;
  const told = `position ${position} is out of range for ${length} samples, which count from 0.`;
  return fail("IndexOutOfRange", where, `${what}: ${told}`);
}

/** Like checkPosition() for one sample that is asked for: a negative index counts from the end. */
export function positionOf(where: string, index: number, length: number): number {
  const fromStart = index < 0 && index >= -length ? index + length : index;
  return checkPosition(where, "index", fromStart, length);
}

/** Returns the positions of one batch as a list. */
export function checkPositions(
  where: string,
  what: string,
  given: unknown,
  length: number,
): number[] {
  if (typeof given !== "object" || given === null || !(Symbol.iterator in given)) {
    const told = `expected a list of positions for each batch, got ${describe(given)}.`;
    fail("InvalidArgument", where, `${what}: ${told}`);
  }
  const positions = Array.from(given as Iterable<unknown>);
  return positions.map((one) => checkPosition(where, what, one, length));
}
