// Hooks that are registered inside of vmap(): they see the gradients of the samples.

import { describe, fail } from "../runtime/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { batchedAt, type Level, levelsOf, physicalOf } from "./batched.js";
import { atLevel, repeatedAt } from "./levels.js";

/** The physical tensor of a batch, and a hook of a sample as a hook of that tensor. */
export function hookOfBatch(tensor: Tensor, hook: (grad: Tensor) => unknown, level: Level) {
  const levels = levelsOf(tensor);
  // Typed without null for the sake of the usual case, as hooks are.
  const shown = (grad: Tensor | null) => (grad === null ? grad : batchedAt(grad, levels)) as Tensor;
  const run = (grad: Tensor | null) =>
    atLevel(level, () => {
      const result = hook(shown(grad));
      return result instanceof Tensor ? hidden(result, levels) : result;
    });
  return { owner: physicalOf(tensor), hook: run };
}

function hidden(result: Tensor, levels: readonly Level[]): Tensor {
  if (levelsOf(result).every((level) => levels.includes(level))) return repeatedAt(result, levels);
  return fail(
    "InvalidGradient",
    "registerHook",
    "a hook of a tensor that is the same for all samples of vmap() cannot return a gradient for each: " +
      `expected a tensor that is the same for all, got ${describe(result)}.`,
  );
}
