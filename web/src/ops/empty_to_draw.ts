// Where random numbers are drawn that belong to no tensor yet.

import { interpreter } from "../dispatch/interpreter.js";
import { empty } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";

/** Returns a tensor of unset values, of the dtype and device of `like`, to draw into: in vmap() one for every sample that draws. */
export function emptyToDraw(shape: readonly number[], like: Tensor): Tensor {
  if (interpreter !== null) return interpreter.emptyToDraw(shape, like);
  return empty(shape, { dtype: like.dtype, device: like.device });
}
