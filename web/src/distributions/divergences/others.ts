// Divergences of two distributions of different classes.

import type { Tensor } from "../../tensor/tensor.js";
import { kEulerGamma, oneMinus } from "../base/numbers.js";
import { ContinuousBernoulli } from "../continuous/continuous_bernoulli.js";
import { Exponential, Gamma } from "../continuous/gamma.js";
import { Gumbel, Laplace, Normal } from "../continuous/location_scale.js";
import { Pareto } from "../continuous/transformed.js";
import { Uniform } from "../continuous/uniform.js";
import { Poisson } from "../discrete/counts.js";
import { Bernoulli, Binomial } from "../discrete/trials.js";
import { Beta } from "../multivariate/dirichlet.js";
import { type DistributionClass, infiniteLike, type KlPair, pair, xLogX } from "./pair.js";

const kTwoPi = 2 * Math.PI;

/** Returns the divergences of two distributions of different classes. */
export function pairsOfOthers(): KlPair[] {
  return [
    ...infinitePairs(),
    pair(Bernoulli, Poisson, klOfBernoulliPoisson),
    pair(Beta, Exponential, klOfBetaExponential),
    pair(Beta, Gamma, klOfBetaGamma),
    pair(Beta, Normal, klOfBetaNormal),
    pair(Beta, Uniform, klOfBetaUniform),
    pair(Exponential, Gamma, klOfExponentialGamma),
    pair(Exponential, Gumbel, klOfExponentialGumbel),
    pair(Exponential, Normal, klOfExponentialNormal),
    pair(Gamma, Exponential, klOfGammaExponential),
    pair(Gamma, Gumbel, klOfGammaGumbel),
    pair(Gamma, Normal, klOfGammaNormal),
    pair(Gumbel, Normal, klOfGumbelNormal),
    pair(Laplace, Normal, klOfLaplaceNormal),
    pair(Normal, Gumbel, klOfNormalGumbel),
    pair(Normal, Laplace, klOfNormalLaplace),
    pair(Uniform, Beta, klOfUniformBeta),
    pair(Uniform, Exponential, klOfUniformExponential),
    pair(Uniform, Gamma, klOfUniformGamma),
    pair(Uniform, Gumbel, klOfUniformGumbel),
    pair(Uniform, Normal, klOfUniformNormal),
  ];
}

/** The pairs whose p has values that are none of q's. */
function infinitePairs(): KlPair[] {
  const bounded: DistributionClass[] = [Beta, ContinuousBernoulli, Pareto, Uniform];
  const positive: DistributionClass[] = [...bounded, Exponential, Gamma];
  return [
    ...bounded.flatMap((q) => [
      pair(Exponential, q, (p) => infiniteLike(p.rate)),
      pair(Gamma, q, (p) => infiniteLike(p.concentration)),
    ]),
    ...positive.flatMap((q) => [
      pair(Gumbel, q, (p) => infiniteLike(p.loc)),
      pair(Laplace, q, (p) => infiniteLike(p.loc)),
      pair(Normal, q, (p) => infiniteLike(p.loc)),
    ]),
    pair(Beta, Pareto, (p) => infiniteLike(p.concentration1)),
    pair(Poisson, Bernoulli, (p) => infiniteLike(p.rate)),
    pair(Poisson, Binomial, (p) => infiniteLike(p.rate)),
  ];
}

/** The mean of (x - loc)² / 2 under a distribution of this mean and half of this second moment. */
function halfSquare(halfMoment: Tensor, mean: Tensor, loc: Tensor): Tensor {
  return halfMoment.sub(loc.mul(mean)).add(loc.square().mul(0.5));
}

function logNormalizerOf(q: Gamma): Tensor {
  return q.concentration.lgamma().sub(q.concentration.mul(q.rate.log()));
}

function klOfBernoulliPoisson(p: Bernoulli, q: Poisson): Tensor {
  return p.entropy().neg().sub(p.probs.mul(q.rate.log()).sub(q.rate));
}

function klOfBetaExponential(p: Beta, q: Exponential): Tensor {
  return p.entropy().neg().sub(q.rate.log()).add(q.rate.mul(p.mean));
}

function klOfBetaGamma(p: Beta, q: Gamma): Tensor {
  const total = p.concentration1.add(p.concentration0);
  const meanLog = p.concentration1.digamma().sub(total.digamma());
  return p
    .entropy()
    .neg()
    .add(logNormalizerOf(q))
    .sub(q.concentration.sub(1).mul(meanLog))
    .add(q.rate.mul(p.mean));
}

function klOfBetaNormal(p: Beta, q: Normal): Tensor {
  const { mean, variance } = p;
  const halfMoment = variance.add(mean.square()).mul(0.5);
  return p
    .entropy()
    .neg()
    .add(q.variance.mul(kTwoPi).log().mul(0.5))
    .add(halfSquare(halfMoment, mean, q.loc).div(q.variance));
}

function klOfBetaUniform(p: Beta, q: Uniform): Tensor {
  const isOutside = q.low.gt(0).logicalOr(q.high.lt(1));
  const kl = q.high.sub(q.low).log().sub(p.entropy());
  return kl.maskedFill(isOutside, Number.POSITIVE_INFINITY);
}

function klOfExponentialGamma(p: Exponential, q: Gamma): Tensor {
  const ratio = q.rate.div(p.rate);
  return ratio
    .sub(q.concentration.mul(ratio.log()))
    .add(q.concentration.lgamma())
    .add(q.concentration.mul(kEulerGamma))
    .sub(1 + kEulerGamma);
}

function klOfExponentialGumbel(p: Exponential, q: Gumbel): Tensor {
  const product = p.rate.mul(q.scale);
  const steps = q.loc.div(q.scale);
  return product
    .log()
    .sub(1)
    .sub(steps)
    .add(steps.exp().mul(product).div(product.add(1)))
    .add(product.reciprocal());
}

function klOfExponentialNormal(p: Exponential, q: Normal): Tensor {
  const rateSquared = p.rate.square();
  const spread = rateSquared.mul(q.variance).mul(kTwoPi).log().mul(0.5);
  const distance = halfSquare(rateSquared.reciprocal(), p.mean, q.loc);
  return spread.sub(1).add(distance.div(q.variance));
}

function klOfGammaExponential(p: Gamma, q: Exponential): Tensor {
  return p.entropy().neg().sub(q.rate.log()).add(q.rate.mul(p.mean));
}

function klOfGammaGumbel(p: Gamma, q: Gumbel): Tensor {
  const { concentration } = p;
  const product = p.rate.mul(q.scale);
  const steps = q.loc.div(q.scale);
  const tail = product.reciprocal().add(1).pow(concentration.neg());
  return spreadOf(p)
    .add(product.log())
    .add(concentration.div(product))
    .add(steps.exp().mul(tail))
    .sub(steps);
}

function klOfGammaNormal(p: Gamma, q: Normal): Tensor {
  const rateSquared = p.rate.square();
  const halfMoment = p.concentration.square().add(p.concentration).div(rateSquared).mul(0.5);
  return spreadOf(p)
    .add(rateSquared.mul(q.variance).mul(kTwoPi).log().mul(0.5))
    .add(halfSquare(halfMoment, p.mean, q.loc).div(q.variance));
}

/** Minus the entropy of gamma distributions of rate 1. */
function spreadOf({ concentration }: Gamma): Tensor {
  return concentration
    .sub(1)
    .mul(concentration.digamma())
    .sub(concentration.lgamma())
    .sub(concentration);
}

function klOfGumbelNormal(p: Gumbel, q: Normal): Tensor {
  const ratio = p.scale.div(q.scale);
  const width = ratio
    .mul(Math.PI / 2)
    .square()
    .div(3);
  const distance = p.mean.sub(q.loc).div(q.scale).square().mul(0.5);
  return width
    .add(distance)
    .sub(ratio.div(Math.sqrt(kTwoPi)).log())
    .sub(kEulerGamma + 1);
}

function klOfLaplaceNormal(p: Laplace, q: Normal): Tensor {
  const ratio = p.scale.square().div(q.variance);
  const distance = halfSquare(p.loc.square().mul(0.5), p.loc, q.loc).div(q.variance);
  return ratio
    .add(distance)
    .sub(
      ratio
        .mul(2 / Math.PI)
        .log()
        .mul(0.5),
    )
    .sub(1);
}

function klOfNormalGumbel(p: Normal, q: Gumbel): Tensor {
  const ratio = p.scale.div(q.scale).square();
  const steps = p.loc.sub(q.loc).div(q.scale);
  const tail = ratio.mul(0.5).sub(steps).exp();
  return steps
    .add(tail)
    .sub(ratio.log().mul(0.5))
    .sub(0.5 * (1 + Math.log(kTwoPi)));
}

function klOfNormalLaplace(p: Normal, q: Laplace): Tensor {
  const distance = p.loc.sub(q.loc);
  const steps = distance.div(p.scale);
  const near = p.scale.mul(Math.sqrt(2 / Math.PI)).mul(steps.square().mul(-0.5).exp());
  const far = distance.mul(steps.mul(Math.SQRT1_2).erf());
  return near
    .add(far)
    .div(q.scale)
    .sub(p.scale.div(q.scale).log())
    .sub(0.5 * (1 + Math.log(Math.PI / 2)));
}

function klOfUniformBeta(p: Uniform, q: Beta): Tensor {
  const width = p.high.sub(p.low);
  const up = xLogX(p.high).sub(xLogX(p.low)).sub(width).div(width);
  const down = xLogX(oneMinus(p.high))
    .sub(xLogX(oneMinus(p.low)))
    .add(width)
    .div(width);
  const total = q.concentration1.add(q.concentration0);
  const logBeta = q.concentration1.lgamma().add(q.concentration0.lgamma()).sub(total.lgamma());
  const isOutside = p.high.gt(1).logicalOr(p.low.lt(0));
  return q.concentration0
    .sub(1)
    .mul(down)
    .add(logBeta)
    .sub(width.log())
    .sub(q.concentration1.sub(1).mul(up))
    .maskedFill(isOutside, Number.POSITIVE_INFINITY);
}

function klOfUniformExponential(p: Uniform, q: Exponential): Tensor {
  const kl = q.rate.mul(p.mean).sub(p.high.sub(p.low).mul(q.rate).log());
  return kl.maskedFill(p.low.lt(0), Number.POSITIVE_INFINITY);
}

function klOfUniformGamma(p: Uniform, q: Gamma): Tensor {
  const width = p.high.sub(p.low);
  const meanLog = xLogX(p.high).sub(xLogX(p.low)).sub(width).div(width);
  return logNormalizerOf(q)
    .sub(width.log())
    .add(oneMinus(q.concentration).mul(meanLog))
    .add(q.rate.mul(p.mean))
    .maskedFill(p.low.lt(0), Number.POSITIVE_INFINITY);
}

function klOfUniformGumbel(p: Uniform, q: Gumbel): Tensor {
  const ratio = q.scale.div(p.high.sub(p.low));
  const high = p.high.sub(q.loc).div(q.scale);
  const low = p.low.sub(q.loc).div(q.scale);
  const tail = ratio.mul(high.neg().exp().sub(low.neg().exp()));
  return ratio.log().add(high.add(low).mul(0.5)).sub(tail);
}

function klOfUniformNormal(p: Uniform, q: Normal): Tensor {
  const width = p.high.sub(p.low);
  const distance = p.mean.sub(q.loc).square();
  return q.scale
    .mul(Math.sqrt(kTwoPi))
    .div(width)
    .log()
    .add(width.square().div(12).add(distance).mul(0.5).div(q.variance));
}
