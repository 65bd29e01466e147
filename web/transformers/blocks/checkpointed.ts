// Blocks that save memory by being computed again in backward.

import * as eg from "edgegrad";

/** Runs a block; with `isCheckpointed` only its first input is kept for backward, which runs the block again. */
export function runBlock<Rest extends unknown[]>(
  block: eg.nn.Module & { forward(x: eg.Tensor, ...rest: Rest): eg.Tensor },
  isCheckpointed: boolean,
  x: eg.Tensor,
  ...rest: Rest
): eg.Tensor {
  const run = (input: eg.Tensor) => block.call(input, ...rest) as eg.Tensor;
  // Without a gradient there is nothing to save memory for, and a cache must be written once.
  return isCheckpointed && block.training && eg.isGradEnabled()
    ? eg.autograd.checkpoint(run, x)
    : run(x);
}
