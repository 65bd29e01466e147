// Complex matrices as real ones: every number a + bi is the block [[a, -b], [b, a]]. Sums, products and inverses of the
// blocks are the blocks of the sums, products and inverses, so ops on real matrices also compute the complex result.

import { complex, imag, neg, real, reshape, select, stack } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";

/** The real matrices [..., 2m, 2n] for complex ones [..., m, n]. */
export function realForm(A: Tensor): Tensor {
  const [rows = 0, columns = 0] = A.shape.slice(-2);
  const [re, im] = [real(A), imag(A)];
  const blocks = stack([stack([re, neg(im)], -1), stack([im, re], -1)], -3);
  return reshape(blocks, [...A.shape.slice(0, -2), 2 * rows, 2 * columns]);
}

/** The complex matrices for the real form `R`. */
export function fromRealForm(R: Tensor): Tensor {
  const [rows = 0, columns = 0] = R.shape.slice(-2).map((size) => size / 2);
  const halves = reshape(R, [...R.shape.slice(0, -2), rows, 2, columns, 2]);
  const firstColumns = select(halves, -1, 0);
  return complex(select(firstColumns, -2, 0), select(firstColumns, -2, 1));
}
