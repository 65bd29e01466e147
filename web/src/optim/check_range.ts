// The check of settings that are numbers in a range.

import { describe, fail } from "../runtime/errors/errors.js";

/** Throws InvalidArgument unless `value` is a number of at least `low` (and below `high`). */
export function checkRange(
  owner: string,
  name: string,
  value: number,
  low = 0,
  high = Infinity,
): void {
  if (typeof value === "number" && value >= low && value < high) return;
  const expected = `a number of at least ${low}${high === Infinity ? "" : ` and below ${high}`}`;
  fail("InvalidArgument", owner, `${name}: expected ${expected}, got ${describe(value)}.`);
}
