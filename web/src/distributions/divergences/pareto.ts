// Divergences of Pareto distributions.

import type { Tensor } from "../../tensor/tensor.js";
import { oneMinus } from "../base/numbers.js";
import { ContinuousBernoulli } from "../continuous/continuous_bernoulli.js";
import { Exponential, Gamma } from "../continuous/gamma.js";
import { Normal } from "../continuous/location_scale.js";
import { Pareto } from "../continuous/transformed.js";
import { Uniform } from "../continuous/uniform.js";
import { Beta } from "../multivariate/dirichlet.js";
import { type DistributionClass, infiniteLike, type KlPair, pair, xLogX } from "./pair.js";

/** Returns the divergences of Pareto distributions, and from them. */
export function pairsOfPareto(): KlPair[] {
  const bounded: DistributionClass[] = [Beta, ContinuousBernoulli, Uniform];
  return [
    pair(Pareto, Pareto, klOfParetos),
    pair(Pareto, Exponential, klOfParetoExponential),
    pair(Pareto, Gamma, klOfParetoGamma),
    pair(Pareto, Normal, klOfParetoNormal),
    pair(Uniform, Pareto, klOfUniformPareto),
    ...bounded.map((q) => pair(Pareto, q, (p) => infiniteLike(p.scale))),
  ];
}

function klOfParetos(p: Pareto, q: Pareto): Tensor {
  const ratio = q.alpha.div(p.alpha);
  return q.alpha
    .mul(p.scale.div(q.scale).log())
    .sub(ratio.log())
    .add(ratio)
    .sub(1)
    .maskedFill(p.scale.lt(q.scale), Number.POSITIVE_INFINITY);
}

function klOfParetoExponential(p: Pareto, q: Exponential): Tensor {
  const product = p.scale.mul(q.rate);
  return p.alpha
    .div(product)
    .log()
    .sub(p.alpha.reciprocal())
    .add(p.alpha.mul(product).div(p.alpha.sub(1)))
    .sub(1)
    .maskedFill(p.alpha.le(1), Number.POSITIVE_INFINITY);
}

function klOfParetoGamma(p: Pareto, q: Gamma): Tensor {
  const meanLog = p.scale.log().add(p.alpha.reciprocal());
  return p.alpha
    .log()
    .sub(meanLog)
    .add(q.concentration.lgamma().sub(q.concentration.mul(q.rate.log())))
    .add(oneMinus(q.concentration).mul(meanLog))
    .add(q.rate.mul(p.alpha).mul(p.scale).div(p.alpha.sub(1)))
    .sub(1)
    .maskedFill(p.alpha.le(1), Number.POSITIVE_INFINITY);
}

function klOfParetoNormal(p: Pareto, q: Normal): Tensor {
  const excess = p.scale.div(p.alpha.sub(1));
  const variance = p.alpha.mul(excess.square()).div(p.alpha.sub(2));
  const distance = p.alpha.mul(excess).sub(q.loc).square();
  return q.scale
    .mul(Math.sqrt(2 * Math.PI))
    .mul(p.alpha)
    .div(p.scale)
    .log()
    .sub(p.alpha.reciprocal())
    .add(variance.add(distance).div(q.variance.mul(2)))
    .sub(1)
    .maskedFill(p.alpha.le(2), Number.POSITIVE_INFINITY);
}

function klOfUniformPareto(p: Uniform, q: Pareto): Tensor {
  const width = p.high.sub(p.low);
  const logDensity = q.alpha.mul(q.scale.pow(q.alpha)).mul(width).log();
  const meanLog = xLogX(p.high).sub(xLogX(p.low)).sub(width).div(width);
  return meanLog
    .mul(q.alpha.add(1))
    .sub(logDensity)
    .maskedFill(p.low.lt(q.scale), Number.POSITIVE_INFINITY);
}
