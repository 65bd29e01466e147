// What optimizers do with sparse gradients: they read and write only what the gradient has values for. A complex number is
// treated as two real ones.

import { coalesce, index } from "../generated/internal.js";
import { indexPut_, select } from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { parts } from "./composed.js";
import type { PlannedStep, StepInputs } from "./groups.js";
import { quietly } from "./quietly.js";

/** The values of a sparse gradient, and access to the same elements of other tensors. */
export interface SparseRows {
  readonly values: Tensor;
  /** Returns a copy of the elements of a tensor of the gradient's shape. */
  take(from: Tensor): Tensor;
  /** Overwrites the elements of a tensor of the gradient's shape. */
  put_(to: Tensor, values: Tensor): void;
}

function rowsOf(given: Tensor): SparseRows {
  const grad = coalesce(given);
  const coordinates = grad.indices();
  const dims = grad.sparseDim;
  const at = Array.from({ length: dims }, (_, d) => select(coordinates, 0, d));
  const leading = Array.from({ length: dims }, (_, d) => d);
  return {
    values: parts(grad.values()),
    take: (from) => index(parts(from), at, leading),
    put_: (to, values) => {
      indexPut_(parts(to), at, values);
    },
  };
}

/** Plans a step that updates one parameter after the other by the values of its gradient; `update` runs without recording. */
export function plannedByRows(
  { params, grads }: StepInputs,
  update: (param: Tensor, rows: SparseRows, i: number) => void,
): readonly PlannedStep[] {
  const run = () => {
    params.forEach((param, i) => {
      quietly(() => update(param, rowsOf(grads[i] as Tensor), i));
    });
  };
  return [{ params, grads, states: [], isSparse: true, run }];
}

/** Throws InvalidArgument for weight decay, which would change all elements and not only those that have a gradient. */
export function refuseDecay(owner: string, weightDecay: number): void {
  if (weightDecay === 0) return;
  fail("InvalidArgument", owner, "weightDecay: must be 0 with sparse gradients.");
}
