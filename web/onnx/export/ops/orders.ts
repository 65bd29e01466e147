// The permutations of ops that only reorder dimensions.

import type { Call } from "../call.js";

/** Returns the permutation that swaps two dimensions. */
export function swapped(rank: number, a: number, b: number): number[] {
  const order = Array.from({ length: rank }, (_, i) => i);
  [order[a], order[b]] = [order[b] ?? a, order[a] ?? b];
  return order;
}

function movedOrder(c: Call, rank: number): number[] {
  const [from, to] = [c.dims("source", rank), c.dims("destination", rank)];
  const order: number[] = new Array(rank).fill(-1);
  for (const [i, axis] of from.entries()) order[to[i] as number] = axis;
  const rest = Array.from({ length: rank }, (_, i) => i).filter((axis) => !from.includes(axis));
  return order.map((axis) => (axis < 0 ? (rest.shift() as number) : axis));
}

/** The permutation of each op. */
export const kOrders = {
  transpose: (c: Call, rank: number) => swapped(rank, c.dim("dim0"), c.dim("dim1")),
  swapaxes: (c: Call, rank: number) => swapped(rank, c.dim("axis0"), c.dim("axis1")),
  t: (_: Call, rank: number) => (rank === 2 ? [1, 0] : swapped(rank, 0, 0)),
  permute: (c: Call, rank: number) => c.dims("dims", rank),
  movedim: movedOrder,
};
