// autograd.grad() inside vmap(): gradients of tensors from outside, weighted by gradients of the outputs that differ by sample.

import { grad } from "../autograd/grad.js";
import type { GradCall } from "../autograd/run.js";
import { flatten, unflatten, zerosLike } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";
import { BatchedTensor, isBatchedAt, type Level } from "./batched.js";
import { atLevel, repeatedFor } from "./levels.js";

/** Returns the gradients of a call inside a level; those of outputs and inputs that are batches themselves are refused. */
export function gradientsOfBatch(call: GradCall, level: Level): (Tensor | null)[] {
  const { outputs, inputs, gradients, options } = call;
  return atLevel(level.outer, () => {
    if (!gradients.some((gradient) => isBatchedAt(gradient, level))) {
      return grad(outputs, inputs, { ...options, gradOutputs: gradients });
    }
    // Each sample may be a batch for which the call asks.
    const { isGradsBatched: hasRows, materializeGrads, allowUnused, ...others } = options;
    const rows = gradients.map((gradient) => {
      if (gradient === null || gradient === undefined) return null;
      const batch = isBatchedAt(gradient, level) ? gradient.shown : repeatedFor(gradient, level);
      return hasRows ? flatten(batch, 0, 1) : batch;
    });
    const found = grad(outputs, inputs, {
      ...others,
      ...(materializeGrads ? { allowUnused: allowUnused ?? true } : { allowUnused }),
      gradOutputs: rows,
      isGradsBatched: true,
    });
    return found.map((grad, i) => {
      if (grad === null) return materializeGrads ? zerosLike(inputs[i] as Tensor) : null;
      return new BatchedTensor(hasRows ? unflatten(grad, 0, [level.size, -1]) : grad, level);
    });
  });
}
