// Matrix products.

import * as eg from "edgegrad";
import { isInteger } from "../values/types.js";
import { tensor, tensorOrNull, type Value } from "../values/value.js";
import { flag, float, ignored, type Ops, op, string } from "./op.js";

/** Returns alpha * a b + beta * c, with a and b optionally transposed. */
export function gemm(
  [left, right, added]: readonly Value[],
  given: { alpha: number; beta: number; transA: boolean; transB: boolean },
): eg.Tensor {
  const a = given.transA ? tensor(left).t() : tensor(left);
  const b = tensor(right);
  const c = tensorOrNull(added);
  const isLinear =
    given.transB && given.alpha === 1 && (c === null || (given.beta === 1 && c.ndim === 1));
  if (isLinear && (c === null || c.shape[0] === b.shape[0])) return eg.linear(a, b, c);
  const product = eg.matmul(a, given.transB ? b.t() : b);
  const scaled = given.alpha === 1 ? product : product.mul(given.alpha);
  if (c === null) return scaled;
  const sum = given.beta === 1 ? scaled.add(c) : scaled.add(c.mul(given.beta));
  return isInteger(a.dtype as never) ? sum.to(a.dtype) : sum;
}

export const kProducts: Ops = {
  MatMul: op({ wraps: true, weights: [0, 1], run: ([a, b]) => eg.matmul(tensor(a), tensor(b)) }),
  Gemm: op({
    attributes: {
      alpha: float(1),
      beta: float(1),
      transA: flag(false),
      transB: flag(false),
      broadcast: ignored,
    },
    wraps: true,
    weights: [0, 1, 2],
    run: gemm,
  }),
  Einsum: op({
    since: 12,
    attributes: { equation: string("") },
    weights: [0, 1, 2, 3],
    run: (inputs, { equation }) => eg.einsum(equation.replace(/\s/g, ""), ...inputs.map(tensor)),
  }),
};
