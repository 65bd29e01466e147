// zeroGrad() of modules and of optimizers.

import { type Arguments, readArguments } from "../arguments/read.js";
import { boolean } from "../arguments/rule.js";
import { zero_ } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";
import { noGrad } from "./grad_mode.js";

const kArguments = {
  /** Whether to set the gradients to null instead of filling them with zeros in place; default true. */
  setToNone: boolean.or(true),
};

/** The arguments of zeroGrad(). */
export type ZeroGradArguments = Arguments<[setToNone: boolean], { setToNone?: boolean }>;

/** Sets the gradients of tensors to null, or detaches them and fills them with zeros. */
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
