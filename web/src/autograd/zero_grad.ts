// zeroGrad() of modules and of optimizers.

import { type Arguments, readArguments } from "../arguments/read.js";
import { boolean } from "../arguments/rule.js";
import { zero_ } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";
import { noGrad } from "./grad_mode.js";

const kArguments = {
  /** Take the gradients off; else they stay the tensors they are and become zeros. Default true. */
  setToNone: boolean.or(true),
};

/** The arguments of zeroGrad(). */
export type ZeroGradArguments = Arguments<[setToNone: boolean], { setToNone?: boolean }>;

/** Takes the gradients off tensors, or has them start at zero again, out of the graph that made them. */
export function zeroGrads(
  where: string,
  tensors: Iterable<Tensor>,
  given: readonly unknown[],
): void {
  if (given.length === 0 || readArguments(where, kArguments, given).setToNone) {
    for (const tensor of tensors) tensor.grad = null;
    return;
  }
  noGrad(() => {
    for (const { grad } of tensors) {
      if (grad === null) continue;
      if (grad.isLeaf) grad.requiresGrad = false;
      else grad.detach_();
      zero_(grad);
    }
  });
}
