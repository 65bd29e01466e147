// The parameters that a step updates, and their gradients.

import { callFrame, checked, native } from "../runtime/bridge/bridge.js";
import { handleOf } from "../tensor/info.js";
import { Tensor } from "../tensor/tensor.js";
import type { StepInputs } from "./groups.js";

/** The parameters that have a gradient, by its layout. */
export interface CollectedInputs {
  readonly dense: StepInputs;
  readonly sparse: StepInputs;
}

/** Returns the parameters that have a gradient. The gradients are also added to `all`, so that the caller can free them. */
export function collectInputs(params: readonly Tensor[], all: Tensor[]): CollectedInputs {
  const collected = {
    dense: { params: [] as Tensor[], grads: [] as Tensor[] },
    sparse: { params: [] as Tensor[], grads: [] as Tensor[] },
  };
  for (const param of params) {
    const handle = checked(native.grad(handleOf(param)));
    if (handle === 0) continue;
    const inputs = callFrame()[0] === 1 ? collected.sparse : collected.dense;
    const grad = new Tensor(handle);
    // Freed by the caller rather than by a scope, because a captured step runs again later (runtime/bridge/live.ts).
    grad.isKept = true;
    all.push(grad);
    inputs.params.push(param);
    inputs.grads.push(grad);
  }
  return collected;
}
