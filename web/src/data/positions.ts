// Checks of sample indices, which come from a sampler, an array of indices or a caller, against the number of samples.

import { describe, fail } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";

/** Returns a valid index of one of `length` samples; `what` names its source. The index may also be a tensor with one element. */
export function checkPosition(where: string, what: string, given: unknown, length: number): number {
  const item = given instanceof Tensor && given.ndim === 0 ? given.item() : given;
  const position = typeof item === "bigint" ? Number(item) : item;
  if (!Number.isSafeInteger(position)) {
    const message = `expected the index of a sample, a whole number, got ${describe(item)}.`;
    fail("InvalidArgument", where, `${what}: ${message}`);
  }
  if ((position as number) >= 0 && (position as number) < length) return position as number;
  const message = `index ${position} is out of range for ${length} samples, which are numbered from 0.`;
  return fail("IndexOutOfRange", where, `${what}: ${message}`);
}

/** Like checkPosition() for access to a single sample: a negative index counts from the end. */
export function positionOf(where: string, index: number, length: number): number {
  const fromStart = index < 0 && index >= -length ? index + length : index;
  return checkPosition(where, "index", fromStart, length);
}

/** Returns the indices of one batch as an array. */
export function checkPositions(
  where: string,
  what: string,
  given: unknown,
  length: number,
): number[] {
  if (typeof given !== "object" || given === null || !(Symbol.iterator in given)) {
    const message = `expected an array of indices for each batch, got ${describe(given)}.`;
    fail("InvalidArgument", where, `${what}: ${message}`);
  }
  const positions = Array.from(given as Iterable<unknown>);
  return positions.map((position) => checkPosition(where, what, position, length));
}
