// Divergences of two distributions of different classes.

import { xlogy } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { DistributionClass } from "../base/declaration.js";
import type { Distribution } from "../base/distribution.js";
import { kEulerGamma, oneMinus } from "../base/numbers.js";
import { ContinuousBernoulli } from "../continuous/continuous_bernoulli.js";
import { Exponential, Gamma } from "../continuous/gamma.js";
import { Gumbel, Laplace, Normal } from "../continuous/location_scale.js";
import { Pareto } from "../continuous/transformed.js";
import { Uniform } from "../continuous/uniform.js";
import { Bernoulli, Binomial, Poisson } from "../discrete/trials.js";
import { Beta } from "../multivariate/dirichlet.js";
import { infinite, infiniteWhere, type KlPair, pair } from "./pair.js";

const kTwoPi = 2 * Math.PI;

/** Returns the divergences of two distributions of different classes. */
export function pairsOfOthers(): KlPair[] {
  return [...infinitePairs(), ...pairsOfBounded(), ...pairsOfPositive(), ...pairsOfReal()];
}

/** The pairs where p has values outside the support of q. */
function infinitePairs(): KlPair[] {
  const bounded: DistributionClass[] = [Beta, ContinuousBernoulli, Uniform];
  const positive = [...bounded, Pareto, Exponential, Gamma];
  return [
    ...infinite(Beta, [Pareto], (p) => p.concentration1),
    ...infinite(ContinuousBernoulli, [Pareto], (p) => p.probs),
    ...infinite(Pareto, bounded, (p) => p.scale),
    ...infinite(Exponential, [...bounded, Pareto], (p) => p.rate),
    ...infinite(Gamma, [...bounded, Pareto], (p) => p.concentration),
    ...infinite(Gumbel, positive, (p) => p.loc),
    ...infinite(Laplace, positive, (p) => p.loc),
    ...infinite(Normal, positive, (p) => p.loc),
    ...infinite(Poisson, [Bernoulli, Binomial], (p) => p.rate),
  ];
}

/** The pairs where the values of p are bounded. */
function pairsOfBounded(): KlPair[] {
  return [
    pair(Bernoulli, Poisson, (p, q) => p.entropy().neg().sub(xlogy(p.probs, q.rate).sub(q.rate))),
    pair(Beta, ContinuousBernoulli, klOfUnitInterval),
    pair(Beta, Exponential, (p, q) => p.entropy().neg().sub(q.rate.log()).add(q.rate.mul(p.mean))),
    pair(Beta, Gamma, (p, q) => {
      const total = p.concentration1.add(p.concentration0);
      const meanLog = p.concentration1.digamma().sub(total.digamma());
      const powers = q.concentration.sub(1).mul(meanLog);
      return p.entropy().neg().add(logNormalizerOf(q)).sub(powers).add(q.rate.mul(p.mean));
    }),
    pair(Beta, Normal, (p, q) => {
      const { mean, variance } = p;
      const halfMoment = variance.add(mean.square()).mul(0.5);
      const kl = p.entropy().neg().add(q.variance.mul(kTwoPi).log().mul(0.5));
      return kl.add(halfSquare(halfMoment, mean, q.loc).div(q.variance));
    }),
    pair(Beta, Uniform, (p, q) => {
      const isOutside = q.low.gt(0).logicalOr(q.high.lt(1));
      return infiniteWhere(isOutside, q.high.sub(q.low).log().sub(p.entropy()));
    }),
    pair(ContinuousBernoulli, Exponential, (p, q) =>
      q.rate.mul(p.mean).sub(p.entropy()).sub(q.rate.log()),
    ),
    pair(ContinuousBernoulli, Normal, (p, q) => {
      const { mean, variance } = p;
      const moment = variance.add(mean.square()).sub(q.loc.mul(2).mul(mean));
      const logScale = q.loc
        .div(q.scale)
        .square()
        .add(Math.log(kTwoPi))
        .mul(0.5)
        .add(q.scale.log());
      return logScale.add(moment.div(q.variance.mul(2))).sub(p.entropy());
    }),
    pair(ContinuousBernoulli, Uniform, (p, q) => {
      const isOutside = q.low.gt(0).logicalOr(q.high.lt(1));
      return infiniteWhere(isOutside, q.high.sub(q.low).log().sub(p.entropy()));
    }),
    pair(Uniform, Beta, (p, q) => {
      const width = p.high.sub(p.low);
      const up = meanLogOf(p, width);
      const falls = xLogX(oneMinus(p.high)).sub(xLogX(oneMinus(p.low)));
      const down = falls.add(width).div(width);
      const total = q.concentration1.add(q.concentration0);
      const logBeta = q.concentration1.lgamma().add(q.concentration0.lgamma()).sub(total.lgamma());
      const isOutside = p.high.gt(1).logicalOr(p.low.lt(0));
      const kl = q.concentration0.sub(1).mul(down).add(logBeta).sub(width.log());
      return infiniteWhere(isOutside, kl.sub(q.concentration1.sub(1).mul(up)));
    }),
    pair(Uniform, ContinuousBernoulli, (p, q) => {
      const isOutside = p.high.gt(1).logicalOr(p.low.lt(0));
      return infiniteWhere(isOutside, klOfUnitInterval(p, q));
    }),
    pair(Uniform, Exponential, (p, q) => {
      const kl = q.rate.mul(p.mean).sub(p.high.sub(p.low).mul(q.rate).log());
      return infiniteWhere(p.low.lt(0), kl);
    }),
    pair(Uniform, Gamma, (p, q) => {
      const width = p.high.sub(p.low);
      const powers = oneMinus(q.concentration).mul(meanLogOf(p, width));
      const kl = logNormalizerOf(q).sub(width.log()).add(powers).add(q.rate.mul(p.mean));
      return infiniteWhere(p.low.lt(0), kl);
    }),
    pair(Uniform, Gumbel, (p, q) => {
      const ratio = q.scale.div(p.high.sub(p.low));
      const high = p.high.sub(q.loc).div(q.scale);
      const low = p.low.sub(q.loc).div(q.scale);
      const tail = ratio.mul(high.neg().exp().sub(low.neg().exp()));
      return ratio.log().add(high.add(low).mul(0.5)).sub(tail);
    }),
    pair(Uniform, Normal, (p, q) => {
      const width = p.high.sub(p.low);
      const distance = p.mean.sub(q.loc).square();
      const moment = width.square().div(12).add(distance).mul(0.5).div(q.variance);
      return q.scale.mul(Math.sqrt(kTwoPi)).div(width).log().add(moment);
    }),
    pair(Uniform, Pareto, (p, q) => {
      const width = p.high.sub(p.low);
      const logDensity = q.alpha.mul(q.scale.pow(q.alpha)).mul(width).log();
      const kl = meanLogOf(p, width).mul(q.alpha.add(1)).sub(logDensity);
      return infiniteWhere(p.low.lt(q.scale), kl);
    }),
  ];
}

/** The pairs where the values of p are positive and unbounded. */
function pairsOfPositive(): KlPair[] {
  return [
    pair(Exponential, Gamma, (p, q) => {
      const ratio = q.rate.div(p.rate);
      const powers = ratio.sub(q.concentration.mul(ratio.log())).add(q.concentration.lgamma());
      return powers.add(q.concentration.mul(kEulerGamma)).sub(1 + kEulerGamma);
    }),
    pair(Exponential, Gumbel, (p, q) => {
      const product = p.rate.mul(q.scale);
      const steps = q.loc.div(q.scale);
      const tail = steps.exp().mul(product).div(product.add(1));
      return product.log().sub(1).sub(steps).add(tail).add(product.reciprocal());
    }),
    pair(Exponential, Normal, (p, q) => {
      const rateSquared = p.rate.square();
      const spread = rateSquared.mul(q.variance).mul(kTwoPi).log().mul(0.5);
      const distance = halfSquare(rateSquared.reciprocal(), p.mean, q.loc);
      return spread.sub(1).add(distance.div(q.variance));
    }),
    pair(Gamma, Exponential, (p, q) => p.entropy().neg().sub(q.rate.log()).add(q.rate.mul(p.mean))),
    pair(Gamma, Gumbel, (p, q) => {
      const { concentration } = p;
      const product = p.rate.mul(q.scale);
      const steps = q.loc.div(q.scale);
      const tail = product.reciprocal().add(1).pow(concentration.neg());
      const kl = spreadOf(p).add(product.log()).add(concentration.div(product));
      return kl.add(steps.exp().mul(tail)).sub(steps);
    }),
    pair(Gamma, Normal, (p, q) => {
      const { concentration, mean, rate } = p;
      const spread = spreadOf(p);
      const rateSquared = rate.square();
      const halfMoment = concentration.square().add(concentration).div(rateSquared).mul(0.5);
      const logScale = rateSquared.mul(q.variance).mul(kTwoPi).log().mul(0.5);
      const distance = halfSquare(halfMoment, mean, q.loc).div(q.variance);
      return spread.add(logScale).add(distance);
    }),
    pair(Pareto, Exponential, (p, q) => {
      const product = p.scale.mul(q.rate);
      const logs = p.alpha.div(product).log().sub(p.alpha.reciprocal());
      const mean = p.alpha.mul(product).div(p.alpha.sub(1));
      return infiniteWhere(p.alpha.le(1), logs.add(mean).sub(1));
    }),
    pair(Pareto, Gamma, (p, q) => {
      const meanLog = p.scale.log().add(p.alpha.reciprocal());
      const logs = p.alpha.log().sub(meanLog).add(logNormalizerOf(q));
      const powers = logs.add(oneMinus(q.concentration).mul(meanLog));
      const mean = q.rate.mul(p.alpha).mul(p.scale).div(p.alpha.sub(1));
      return infiniteWhere(p.alpha.le(1), powers.add(mean).sub(1));
    }),
    pair(Pareto, Normal, (p, q) => {
      const excess = p.scale.div(p.alpha.sub(1));
      const variance = p.alpha.mul(excess.square()).div(p.alpha.sub(2));
      const distance = p.alpha.mul(excess).sub(q.loc).square();
      const logScale = q.scale.mul(Math.sqrt(kTwoPi)).mul(p.alpha).div(p.scale).log();
      const moment = variance.add(distance).div(q.variance.mul(2));
      const kl = logScale.sub(p.alpha.reciprocal()).add(moment).sub(1);
      return infiniteWhere(p.alpha.le(2), kl);
    }),
  ];
}

/** The pairs where the values of p are all real numbers. */
function pairsOfReal(): KlPair[] {
  return [
    pair(Gumbel, Normal, (p, q) => {
      const ratio = p.scale.div(q.scale);
      const width = ratio
        .mul(Math.PI / 2)
        .square()
        .div(3);
      const distance = p.mean.sub(q.loc).div(q.scale).square().mul(0.5);
      const logRatio = ratio.div(Math.sqrt(kTwoPi)).log();
      return width
        .add(distance)
        .sub(logRatio)
        .sub(kEulerGamma + 1);
    }),
    pair(Laplace, Normal, (p, q) => {
      const ratio = p.scale.square().div(q.variance);
      const distance = halfSquare(p.loc.square().mul(0.5), p.loc, q.loc).div(q.variance);
      const logRatio = ratio
        .mul(2 / Math.PI)
        .log()
        .mul(0.5);
      return ratio.add(distance).sub(logRatio).sub(1);
    }),
    pair(Normal, Gumbel, (p, q) => {
      const ratio = p.scale.div(q.scale).square();
      const steps = p.loc.sub(q.loc).div(q.scale);
      const tail = ratio.mul(0.5).sub(steps).exp();
      return steps
        .add(tail)
        .sub(ratio.log().mul(0.5))
        .sub(0.5 * (1 + Math.log(kTwoPi)));
    }),
    pair(Normal, Laplace, (p, q) => {
      const distance = p.loc.sub(q.loc);
      const steps = distance.div(p.scale);
      const near = p.scale.mul(Math.sqrt(2 / Math.PI)).mul(steps.square().mul(-0.5).exp());
      const far = distance.mul(steps.mul(Math.SQRT1_2).erf());
      const logRatio = p.scale.div(q.scale).log();
      return near
        .add(far)
        .div(q.scale)
        .sub(logRatio)
        .sub(0.5 * (1 + Math.log(Math.PI / 2)));
    }),
  ];
}

function klOfUnitInterval(p: Distribution, q: ContinuousBernoulli): Tensor {
  return p.entropy().neg().sub(p.mean.mul(q.logits)).sub(q.probs.neg().log1p()).sub(q.logFactor());
}

/** Returns the mean of (x - loc)² / 2, from the mean of x and half its second moment. */
function halfSquare(halfMoment: Tensor, mean: Tensor, loc: Tensor): Tensor {
  return halfMoment.sub(loc.mul(mean)).add(loc.square().mul(0.5));
}

function logNormalizerOf({ concentration, rate }: Gamma): Tensor {
  return concentration.lgamma().sub(concentration.mul(rate.log()));
}

/** Returns the negative entropy of gamma distributions of rate 1. */
function spreadOf({ concentration: a }: Gamma): Tensor {
  return a.sub(1).mul(a.digamma()).sub(a.lgamma()).sub(a);
}

/** Returns the mean of log x under uniform distributions. */
function meanLogOf({ low, high }: Uniform, width: Tensor): Tensor {
  return xLogX(high).sub(xLogX(low)).sub(width).div(width);
}

function xLogX(x: Tensor): Tensor {
  return xlogy(x, x);
}
