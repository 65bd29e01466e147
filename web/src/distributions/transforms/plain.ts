// Transforms of single numbers that have no parameters.

import type { Tensor } from "../../tensor/tensor.js";
import { limitsOf } from "../base/numbers.js";
import { interval, positive, real, unitInterval } from "../constraints/constraints.js";
import { rising, transformation } from "./declaration.js";

/** y = exp(x). */
export class ExpTransform extends rising({
  codomain: positive,
  forward: (x) => x.exp(),
  inverse: (y) => y.log(),
  logStretch: (x) => x,
}) {}

/** y = 1 / (1 + exp(-x)), kept off 0 and 1. */
export class SigmoidTransform extends rising({
  codomain: unitInterval,
  forward: clippedSigmoid,
  inverse(y) {
    const inside = clipped(y);
    return inside.log().sub(inside.neg().log1p());
  },
  logStretch: (x) => x.neg().softplus().neg().sub(x.softplus()),
}) {}

/** y = log(1 + exp(x)). */
export class SoftplusTransform extends rising({
  codomain: positive,
  forward: (x) => x.softplus(),
  inverse: (y) => y.neg().expm1().neg().log().add(y),
  logStretch: (x) => x.neg().softplus().neg(),
}) {}

/** y = tanh(x). */
export class TanhTransform extends rising({
  codomain: () => interval(-1, 1),
  forward: (x) => x.tanh(),
  inverse: (y) => y.atanh(),
  // 1 - tanh² without the difference of two numbers that are nearly the same.
  logStretch: (x) => x.neg().add(Math.log(2)).sub(x.mul(-2).softplus()).mul(2),
}) {}

/** y = |x|; its inverse gives the positive x. */
export class AbsTransform extends transformation({
  domain: real,
  codomain: positive,
  bijective: false,
  forward: (x) => x.abs(),
  inverse: (y) => y,
}) {}

function clipped(probability: Tensor): Tensor {
  const { tiny, eps } = limitsOf(probability.dtype);
  return probability.clamp(tiny, 1 - eps);
}

/** Returns the sigmoid, kept off 0 and 1 by the precision of the dtype. */
export function clippedSigmoid(x: Tensor): Tensor {
  return clipped(x.sigmoid());
}
