// Rules for losses that are not computed element by element.

import { take, unsqueeze } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Call, type Rule, range } from "./call.js";
import { reduceSamples } from "./elementwise.js";
import { fold, unfold } from "./folded.js";

/** Returns a rule for losses per row. `names` are the tensors; without a batch dimension, the first has `kept` dimensions. */
export function rowLoss(names: readonly string[], kept: number): Rule {
  return (call) => {
    if (call.op.parameters.some(({ name }) => !names.includes(name) && call.isBatched(name)))
      return null;
    const first = call.batch(names[0] as string);
    const isFolded = first.ndim - 1 > kept;
    const ranks = new Set(names.map((name) => call.rank(name)));
    if (!isFolded && ranks.size > 1 && kept > 1) return null;
    const inputs = names.map((name) => [
      name,
      isFolded ? fold(call.batch(name)) : call.batch(name),
    ]);
    const losses = call.runOne({ ...Object.fromEntries(inputs), reduction: "none" });
    const own = isFolded ? unfold(losses, call.size, first.shape[1] ?? 1) : losses;
    return reduceSamples(own, call.value("reduction"));
  };
}

/** The rule of gaussianNllLoss(): the variance may lack the last dimension, or be a number. */
export const gaussianLoss: Rule = (call) => {
  if (call.rank("input") !== call.rank("target")) return null;
  const names = call.operand("var") === null ? ["input", "target"] : ["input", "target", "var"];
  const batches = names.map((name) => [name, call.batch(name)]);
  const losses = call.runOne({ ...Object.fromEntries(batches), reduction: "none" });
  return reduceSamples(losses, call.value("reduction"));
};

/** The rule of classification losses, whose mean is weighted by the classes of the targets. */
export const classLoss: Rule = (call) => {
  if (call.isBatched("weight")) return null;
  const rank = call.rank("input");
  const isFolded = rank > 1;
  const [input, target] = [call.batch("input"), call.batch("target")];
  const losses = call.runOne({
    input: isFolded ? fold(input) : input,
    target: isFolded ? fold(target) : target,
    reduction: "none",
  });
  const own = isFolded ? unfold(losses, call.size, input.shape[1] ?? 1) : unsqueeze(losses, 1);
  const reduction = call.value<string>("reduction");
  if (reduction === "none") return isFolded ? own : losses;
  const dims = range(1, own.ndim);
  const sum = own.sum(dims);
  return reduction === "sum" ? sum : sum.div(weightOf(call, own, dims));
};

// Returns the divisor of the mean.
function weightOf(call: Call, losses: Tensor, dims: readonly number[]): Tensor | number {
  const target = call.batch("target");
  if (target.dtype !== "int64" && target.dtype !== "uint8") {
    return losses.shape.slice(1).reduce((product, size) => product * size, 1);
  }
  const ignored = target.eq(call.value<number>("ignoreIndex"));
  const weight = call.value<Tensor | null>("weight");
  const each =
    weight === null
      ? losses.detach().mul(0).fill_(1)
      : take(weight, target.maskedFill(ignored, 0)).reshape(losses.shape);
  return each.maskedFill(ignored.reshape(losses.shape), 0).sum(dims);
}
