// The random numbers of samplers, which are the same as in PyTorch.

import { drawnFrom } from "../arguments/generator.js";
import { empty, multinomial, randint, random_, randperm } from "../generated/ops.js";
import type { Generator } from "../ops/generator.js";
import type { Tensor } from "../tensor/tensor.js";

/** Draws a seed from the whole range of int64. */
export function drawSeed(generator: Generator | null): bigint {
  return drawnFrom(generator, () => elementsOf(random_(empty([], { dtype: "int64" })))[0] ?? 0n);
}

/** Returns the whole numbers below `length` in random order. */
export function permutation(length: number, generator: Generator | null): number[] {
  return wholes(randperm(length, { generator }));
}

/** Returns independent random whole numbers below `high`. */
export function wholesBelow(high: number, count: number, generator: Generator | null): number[] {
  return wholes(randint(0, high, [count], { generator }));
}

/** Returns indices drawn with probabilities proportional to the weights. */
export function weightedPositions(
  weights: Tensor,
  count: number,
  replacement: boolean,
  generator: Generator | null,
): number[] {
  return wholes(multinomial(weights, count, { replacement, generator }));
}

function wholes(tensor: Tensor): number[] {
  return Array.from(elementsOf(tensor), Number);
}

function elementsOf(tensor: Tensor): BigInt64Array {
  const values = tensor.dataSync() as BigInt64Array;
  tensor.dispose();
  return values;
}
