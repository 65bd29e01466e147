// Several functions in a row, without the memory of all their results.

import type * as eg from "edgegrad";

/**
 * Applies functions to a tensor, one after the other. The result of each is freed when the next one has run, unless a gradient needs it, so
 * that at most two of them are in memory.
 */
export function chained(
  x: eg.Tensor,
  ...steps: readonly ((x: eg.Tensor) => eg.Tensor)[]
): eg.Tensor {
  let now = x;
  for (const step of steps) {
    const next = step(now);
    if (now !== x && now !== next) now.dispose();
    now = next;
  }
  return now;
}
