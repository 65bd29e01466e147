// Divergences of continuous Bernoulli distributions.

import type { Tensor } from "../../tensor/tensor.js";
import type { Distribution } from "../base/distribution.js";
import { ContinuousBernoulli } from "../continuous/continuous_bernoulli.js";
import { Exponential } from "../continuous/gamma.js";
import { Normal } from "../continuous/location_scale.js";
import { Pareto } from "../continuous/transformed.js";
import { Uniform } from "../continuous/uniform.js";
import { Beta } from "../multivariate/dirichlet.js";
import { infiniteLike, type KlPair, pair } from "./pair.js";

/** Returns the divergences of continuous Bernoulli distributions, and from them. */
export function pairsOfContinuousBernoulli(): KlPair[] {
  return [
    pair(ContinuousBernoulli, ContinuousBernoulli, klOfTwo),
    pair(ContinuousBernoulli, Exponential, klFromExponential),
    pair(ContinuousBernoulli, Normal, klFromNormal),
    pair(ContinuousBernoulli, Uniform, klFromUniform),
    pair(ContinuousBernoulli, Pareto, (p) => infiniteLike(p.probs)),
    pair(Beta, ContinuousBernoulli, klOfOther),
    pair(Uniform, ContinuousBernoulli, klOfUniform),
  ];
}

function klOfTwo(p: ContinuousBernoulli, q: ContinuousBernoulli): Tensor {
  return p.mean
    .mul(p.logits.sub(q.logits))
    .add(p.logFactor().add(p.probs.neg().log1p()))
    .sub(q.logFactor())
    .sub(q.probs.neg().log1p());
}

function klFromExponential(p: ContinuousBernoulli, q: Exponential): Tensor {
  return q.rate.mul(p.mean).sub(p.entropy()).sub(q.rate.log());
}

function klFromNormal(p: ContinuousBernoulli, q: Normal): Tensor {
  const { mean, variance } = p;
  const moment = variance.add(mean.square()).sub(q.loc.mul(2).mul(mean));
  return q.loc
    .div(q.scale)
    .square()
    .add(Math.log(2 * Math.PI))
    .mul(0.5)
    .add(q.scale.log())
    .add(moment.div(q.variance.mul(2)))
    .sub(p.entropy());
}

// PyTorch's condition: infinite unless q reaches over both ends.
function klFromUniform(p: ContinuousBernoulli, q: Uniform): Tensor {
  const isInside = q.low.ge(0).logicalOr(q.high.le(1));
  return q.high.sub(q.low).log().sub(p.entropy()).maskedFill(isInside, Number.POSITIVE_INFINITY);
}

function klOfOther(p: Distribution, q: ContinuousBernoulli): Tensor {
  return p.entropy().neg().sub(p.mean.mul(q.logits)).sub(q.probs.neg().log1p()).sub(q.logFactor());
}

// PyTorch's condition: infinite where p reaches an end.
function klOfUniform(p: Uniform, q: ContinuousBernoulli): Tensor {
  const isOutside = p.high.ge(1).logicalOr(p.low.le(0));
  return klOfOther(p, q).maskedFill(isOutside, Number.POSITIVE_INFINITY);
}
