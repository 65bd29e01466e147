// Rules for ops that have a batch dimension themselves: the dimension of the samples is folded into it and split off afterwards.

import { flatten, movedim, mul, reshape, unsqueeze, where } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Call, eachResult, type Result, type Rule } from "./call.js";
import { shiftDim } from "./dims.js";

/** Merges the two batch dimensions of a batch of batches. */
export function fold(batch: Tensor): Tensor {
  return flatten(batch, 0, 1);
}

/** Reverses fold() for a result; `count` is the size of the inner batches. */
export function unfold(folded: Tensor, size: number, count: number): Tensor {
  return reshape(folded, [size, count, ...folded.shape.slice(1)]);
}

/** Runs a call whose tensors `names` have their own batch dimension if they have more than `kept` dimensions. */
export function runFolded(
  call: Call,
  names: readonly string[],
  kept: number,
  changes: Readonly<Record<string, unknown>> = {},
): Result {
  const first = call.batch(names[0] as string);
  const isFolded = first.ndim - 1 > kept;
  const inputs = names.map((name) => [name, isFolded ? fold(call.batch(name)) : call.batch(name)]);
  const result = call.run({ ...Object.fromEntries(inputs), ...changes });
  const count = first.shape[1] ?? 1;
  return isFolded ? eachResult(result, (tensor) => unfold(tensor, call.size, count)) : result;
}

/** Returns a rule for ops of one tensor with an optional batch dimension; without it, the tensor has `kept` dimensions. */
export function folded(kept: number): Rule {
  return (call) => runFolded(call, ["input"], kept);
}

/** The rule of pad(): padding with a constant accepts any shape; other modes require channels and accept a batch dimension. */
export const padded: Rule = (call) => {
  if (call.value("mode") === "constant") {
    const batch = call.batch("input");
    return call.run({ input: batch });
  }
  const padding = call.value<readonly number[]>("pad");
  return Array.isArray(padding) ? runFolded(call, ["input"], padding.length / 2 + 1) : null;
};

/** The rule of prelu(): the weight applies to the second dimension of a sample. */
export const prelu: Rule = (call) => {
  const rank = call.rank("input");
  if (call.isBatched("weight")) return ownSlopes(call, rank);
  if (rank > 1) return runFolded(call, ["input"], 0);
  // Without a channel dimension there is a single weight.
  const input = call.batch("input");
  const flat = call.runOne({ input: reshape(input, [-1, 1]) });
  return call.value<Tensor>("weight").numel === 1 && input.numel > 0
    ? reshape(flat, input.shape)
    : null;
};

// Handles slopes that differ by sample.
function ownSlopes(call: Call, rank: number): Tensor {
  const [input, weight] = [call.batch("input"), call.batch("weight")];
  const count = weight.numel / Math.max(call.size, 1);
  const ones = new Array(Math.max(rank - 2, 0)).fill(1);
  const shape = rank > 1 ? [1, count, ...ones] : new Array(rank).fill(1);
  const slopes = reshape(weight, [call.size, ...shape]);
  return where(input.gt(0), input, mul(input, slopes));
}

/** The rule of renorm(): norms must not include the batch dimension. */
export const renorm: Rule = (call) => {
  const rank = call.rank("input");
  const dim = shiftDim("renorm", call.value("dim"), rank) as number;
  const front = movedim(call.batch("input"), dim, 1);
  const result = call.runOne({ input: fold(front), dim: 0 });
  return movedim(unfold(result, call.size, front.shape[1] ?? 1), 1, dim);
};

/** The rule of oneHot() if the number of classes is given. */
export const oneHot: Rule = (call) =>
  call.value("numClasses") === -1 ? null : call.run({ input: call.batch("input") });

/** The rule of pairwiseDistance(): vectors get new dimensions in front. */
export const vectorPairs: Rule = (call) => {
  const rank = Math.max(call.rank("x1"), call.rank("x2"), 1);
  const batchOf = (name: string) => {
    const batch = call.batch(name);
    let full = batch;
    while (full.ndim - 1 < rank) full = unsqueeze(full, 1);
    return full;
  };
  return call.run({ x1: batchOf("x1"), x2: batchOf("x2") });
};
