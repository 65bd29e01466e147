// where(), including the form that takes only a condition.

import type { Operand } from "../dispatch/types.js";
import { where as choose, nonzero, reshape, unbind } from "../generated/ops.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";

/**
 * Returns `input` where `condition` is true and `other` elsewhere. With only a condition, returns the positions where it is
 * true, one tensor of indices per axis.
 */
export function where(condition: Operand, input: Operand, other: Operand): Tensor;
export function where(condition: Tensor): Tensor[];
export function where(...given: readonly unknown[]): Tensor | Tensor[] {
  const [condition] = given;
  if (given.length === 1 && condition instanceof Tensor) return positionsOf(condition);
  return choose(...(given as Parameters<typeof choose>));
}

function positionsOf(condition: Tensor): Tensor[] {
  return scope(() => {
    // A tensor without dimensions is treated as one with a single element.
    const list = condition.ndim === 0 ? reshape(condition, 1) : condition;
    return unbind(nonzero(list), 1);
  });
}
