// Settings that are one number for all groups, or a list with one per group.

import { describe, fail } from "../../runtime/errors/errors.js";

/** Returns one value per group; throws InvalidArgument if a list has another length. */
export function perGroup(
  owner: string,
  name: string,
  value: number | readonly number[],
  count: number,
): number[] {
  if (typeof value === "number") return Array<number>(count).fill(value);
  if (value.length === count) return [...value];
  fail(
    "InvalidArgument",
    owner,
    `${name}: expected ${count} values, one per group, got ${describe(value)}.`,
  );
}
