// Hooks that are registered inside vmap(), which receive the gradients of samples.

import { describe, fail } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { batchedAt, type Level, levelsOf, physicalOf } from "./batched.js";
import { atLevel, repeatedAt } from "./levels.js";

/** Returns the physical tensor of a batch, and a hook for that tensor that calls `hook` with the gradient of a sample. */
export function hookOfBatch(tensor: Tensor, hook: (grad: Tensor) => unknown, level: Level) {
  const levels = levelsOf(tensor);
  // The public type omits null because it is rare, as for all hooks.
  const asBatch = (grad: Tensor | null) =>
    (grad === null ? grad : batchedAt(grad, levels)) as Tensor;
  const run = (grad: Tensor | null) =>
    atLevel(level, () => {
      const result = hook(asBatch(grad));
      return result instanceof Tensor ? hidden(result, levels) : result;
    });
  return { owner: physicalOf(tensor), hook: run };
}

function hidden(result: Tensor, levels: readonly Level[]): Tensor {
  if (levelsOf(result).every((level) => levels.includes(level))) return repeatedAt(result, levels);
  return fail(
    "InvalidGradient",
    "registerHook",
    "the tensor of this hook is the same for all samples of vmap(), so the hook must return a gradient that is the same for " +
      `all samples, got ${describe(result)}.`,
  );
}
