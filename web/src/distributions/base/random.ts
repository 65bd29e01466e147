// The random numbers of distributions, the same as PyTorch's for a seed.

import { normal_, rand, uniform_ } from "../../generated/ops.js";
import { emptyToDraw } from "../../ops/samples.js";
import type { Tensor } from "../../tensor/tensor.js";

export { sampleDirichlet, standardGamma } from "../../generated/internal.js";
export { binomial, multinomial, poisson } from "../../generated/ops.js";

/** Draws standard normal numbers of the dtype and device of `like`. */
export function standardNormal(shape: readonly number[], like: Tensor): Tensor {
  return normal_(emptyToDraw(shape, like));
}

/** Draws uniform numbers in [from, to) of the dtype and device of `like`. */
export function uniformBetween(
  shape: readonly number[],
  like: Tensor,
  from: number,
  to: number,
): Tensor {
  return uniform_(emptyToDraw(shape, like), from, to);
}

/** Draws uniform numbers in [0, 1) of the dtype and device of `like`. */
export function uniformUnit(shape: readonly number[], like: Tensor): Tensor {
  return rand(shape, { dtype: like.dtype, device: like.device });
}
