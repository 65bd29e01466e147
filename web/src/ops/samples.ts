// What has to know that a tensor may stand for a batch, inside of vmap(), and is no call of an op.

import { interpretedBy, interpreter } from "../dispatch/interpreter.js";
import { all, empty } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";

/** Returns a tensor of unset values, of the dtype and device of `like`, to draw into: in vmap() one for every sample that draws. */
export function emptyToDraw(shape: readonly number[], like: Tensor): Tensor {
  if (interpreter !== null) return interpreter.emptyToDraw(shape, like);
  return empty(shape, { dtype: like.dtype, device: like.device });
}

/** Returns whether a condition holds everywhere, in vmap() for all samples. */
export function isAllTrue(condition: Tensor): boolean {
  const known = interpreter === null ? condition : interpreter.physical(condition);
  return interpretedBy(null, () => Boolean(all(known).item()));
}
