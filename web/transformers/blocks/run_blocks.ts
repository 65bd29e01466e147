// Runs the blocks of a model.

import * as eg from "edgegrad";
import type { Pass } from "./pass.js";

type Block<Rest extends unknown[]> = eg.nn.Module & {
  forward(x: eg.Tensor, pass: Pass, ...rest: Rest): eg.Tensor;
};

/**
 * Runs blocks in sequence. The intermediate results of a block are freed at its end, except those that backward needs. With `isCheckpointed`, only
 * its first input is kept, and backward runs the block again. What blocks share has to be computed before, by `pass.mask()` and the like.
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
    // A scope of its own, because a checkpointed block runs again in backward, in the scope of the caller of backward.
    const run = (input: eg.Tensor) => eg.scope(() => block.call(input, pass, ...rest) as eg.Tensor);
    // Without gradients nothing is kept for backward anyway, and a cache must be written only once.
    const isKept = !isCheckpointed || !block.training || !eg.isGradEnabled();
    hidden = isKept ? run(hidden) : eg.scope(() => eg.autograd.checkpoint(run, hidden));
  }
  return hidden;
}
