// The blocks of a model, one after the other.

import * as eg from "edgegrad";
import type { Pass } from "./pass.js";

type Block<Rest extends unknown[]> = eg.nn.Module & {
  forward(x: eg.Tensor, pass: Pass, ...rest: Rest): eg.Tensor;
};

/**
 * Runs blocks on the result of those before. What a block computes on its way is freed at its end, except what backward needs; with `isCheckpointed` only
 * its first input is kept for backward, which runs the block again. What blocks share has to be made before, by `pass.hiding()` and the like.
 */
export function runBlocks<Rest extends unknown[]>(
  blocks: Iterable<Block<Rest>>,
  isCheckpointed: boolean,
  x: eg.Tensor,
  pass: Pass,
  ...rest: Rest
): eg.Tensor {
  let hidden = x;
  for (const block of blocks) {
    // A scope of its own, because a checkpointed block runs again in backward, within the scope of whoever called that.
    const run = (input: eg.Tensor) => eg.scope(() => block.call(input, pass, ...rest) as eg.Tensor);
    // Without a gradient there is nothing to save memory for, and a cache must be written once.
    const isKept = !isCheckpointed || !block.training || !eg.isGradEnabled();
    hidden = isKept ? run(hidden) : eg.scope(() => eg.autograd.checkpoint(run, hidden));
  }
  return hidden;
}
