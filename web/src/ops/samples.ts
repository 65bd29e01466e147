// Functions that are not ops but must handle the tensors inside vmap(), each of which represents a batch.

import { interpretedBy, interpreter } from "../dispatch/interpreter.js";
import { all, empty } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";

/**
 * Returns an uninitialized tensor, with the dtype and device of `like`, to be filled with random numbers. Inside vmap() it has
 * separate elements for every sample, unless all samples draw the same numbers.
 */
export function emptyToDraw(shape: readonly number[], like: Tensor): Tensor {
  if (interpreter !== null) return interpreter.emptyToDraw(shape, like);
  return empty(shape, { dtype: like.dtype, device: like.device });
}

/** Returns whether all elements of a condition are true; inside vmap(), those of all samples. */
export function isAllTrue(condition: Tensor): boolean {
  const known = interpreter === null ? condition : interpreter.physical(condition);
  return interpretedBy(null, () => Boolean(all(known).item()));
}
