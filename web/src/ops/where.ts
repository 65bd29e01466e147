// where(), also of a condition alone.

import type { Operand } from "../dispatch/types.js";
import { where as choose, nonzero, reshape, unbind } from "../generated/ops.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";

/** `input` where `condition` holds, `other` elsewhere; of a condition alone the positions where it holds, one tensor per axis. */
export function where(condition: Operand, input: Operand, other: Operand): Tensor;
export function where(condition: Tensor): Tensor[];
export function where(...given: readonly unknown[]): Tensor | Tensor[] {
  const [condition] = given;
  if (given.length === 1 && condition instanceof Tensor) return positionsOf(condition);
  return choose(...(given as Parameters<typeof choose>));
}

function positionsOf(condition: Tensor): Tensor[] {
  return scope(() => {
    // What has no axis counts as a list of one.
    const list = condition.ndim === 0 ? reshape(condition, 1) : condition;
    return unbind(nonzero(list), 1);
  });
}
