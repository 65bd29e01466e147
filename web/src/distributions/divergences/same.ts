// Divergences of two distributions of the same class.

import { xlogy } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { broadcastShapes } from "../base/arguments.js";
import { holdsEverywhere, kEulerGamma, oneMinus } from "../base/numbers.js";
import { ContinuousBernoulli } from "../continuous/continuous_bernoulli.js";
import { Exponential, Gamma } from "../continuous/gamma.js";
import { Cauchy, Gumbel, Laplace, Normal } from "../continuous/location_scale.js";
import { HalfNormal, Pareto } from "../continuous/transformed.js";
import { Uniform } from "../continuous/uniform.js";
import { Categorical, type ClassDistribution, OneHotCategorical } from "../discrete/categorical.js";
import {
  Bernoulli,
  type BinaryDistribution,
  Binomial,
  Geometric,
  Poisson,
} from "../discrete/trials.js";
import { Beta, Dirichlet } from "../multivariate/dirichlet.js";
import {
  halfLogDet,
  MultivariateNormal,
  mahalanobis,
  solveLower,
} from "../multivariate/multivariate_normal.js";
import { infiniteWhere, type KlPair, pair, requireSameEvents } from "./pair.js";

/** Returns the divergences of two distributions of the same class. */
export function pairsOfSame(): KlPair[] {
  return [
    pair(Bernoulli, Bernoulli, klOfTrials),
    pair(Beta, Beta, (p, q) => {
      const [p1, p0] = [p.concentration1, p.concentration0];
      const [q1, q0] = [q.concentration1, q.concentration0];
      const [pSum, qSum] = [p1.add(p0), q1.add(q0)];
      const ofP = p1.lgamma().add(p0.lgamma()).add(qSum.lgamma());
      const logBetas = q1.lgamma().add(q0.lgamma()).add(pSum.lgamma()).sub(ofP);
      const pulls = logBetas.add(p1.sub(q1).mul(p1.digamma())).add(p0.sub(q0).mul(p0.digamma()));
      return pulls.add(qSum.sub(pSum).mul(pSum.digamma()));
    }),
    pair(Binomial, Binomial, klOfBinomials),
    pair(Categorical, Categorical, klOfClasses),
    pair(OneHotCategorical, OneHotCategorical, klOfClasses),
    pair(ContinuousBernoulli, ContinuousBernoulli, (p, q) => {
      const ofP = p.mean.mul(p.logits.sub(q.logits)).add(p.logFactor().add(p.probs.neg().log1p()));
      return ofP.sub(q.logFactor()).sub(q.probs.neg().log1p());
    }),
    pair(Dirichlet, Dirichlet, (p, q) => {
      const [a, b] = [p.concentration, q.concentration];
      const [aSum, bSum] = [a.sum(-1), b.sum(-1)];
      const pull = a.digamma().sub(aSum.digamma().unsqueeze(-1));
      const logBetas = aSum.lgamma().sub(bSum.lgamma()).sub(a.lgamma().sub(b.lgamma()).sum(-1));
      return logBetas.add(a.sub(b).mul(pull).sum(-1));
    }),
    pair(Exponential, Exponential, (p, q) => {
      const ratio = q.rate.div(p.rate);
      return ratio.sub(ratio.log()).sub(1);
    }),
    pair(Gamma, Gamma, (p, q) => {
      const [a, b] = [p.concentration, q.concentration];
      const logFactors = b.mul(p.rate.div(q.rate).log()).add(b.lgamma().sub(a.lgamma()));
      const pull = logFactors.add(a.sub(b).mul(a.digamma()));
      return pull.add(q.rate.sub(p.rate).mul(a.div(p.rate)));
    }),
    pair(Geometric, Geometric, (p, q) => klOfTrials(p, q).div(p.probs)),
    pair(HalfNormal, HalfNormal, (p, q) => klOfNormals(p.baseDist, q.baseDist)),
    pair(Normal, Normal, klOfNormals),
    pair(Laplace, Laplace, (p, q) => {
      const ratio = p.scale.div(q.scale);
      const distance = p.loc.sub(q.loc).abs();
      const tail = ratio.mul(distance.neg().div(p.scale).exp());
      return distance.div(q.scale).sub(ratio.log()).add(tail).sub(1);
    }),
    pair(Gumbel, Gumbel, (p, q) => {
      const ratio = p.scale.div(q.scale);
      const [pSteps, qSteps] = [p.loc.div(q.scale), q.loc.div(q.scale)];
      const linear = pSteps.sub(qSteps).sub(ratio.log()).add(ratio.mul(kEulerGamma));
      const tail = qSteps.add(ratio.add(1).lgamma()).sub(pSteps).exp();
      return linear.add(tail).sub(1 + kEulerGamma);
    }),
    pair(Cauchy, Cauchy, (p, q) => {
      const spread = p.scale.add(q.scale).square().add(p.loc.sub(q.loc).square());
      return spread.log().sub(p.scale.mul(4).mul(q.scale).log());
    }),
    pair(Pareto, Pareto, (p, q) => {
      const ratio = q.alpha.div(p.alpha);
      const kl = q.alpha.mul(p.scale.div(q.scale).log()).sub(ratio.log()).add(ratio).sub(1);
      return infiniteWhere(p.scale.lt(q.scale), kl);
    }),
    pair(Poisson, Poisson, (p, q) =>
      xlogy(p.rate, p.rate).sub(xlogy(p.rate, q.rate)).sub(p.rate.sub(q.rate)),
    ),
    pair(Uniform, Uniform, (p, q) => {
      const isOutside = q.low.gt(p.low).logicalOr(q.high.lt(p.high));
      return infiniteWhere(isOutside, q.high.sub(q.low).div(p.high.sub(p.low)).log());
    }),
    pair(MultivariateNormal, MultivariateNormal, (p, q) => {
      requireSameEvents(p, q);
      const [a, b] = [p.factor, q.factor];
      const shape = broadcastShapes("klDivergence", a.shape, b.shape);
      const traces = solveLower(b.expand(shape), a.expand(shape)).square().sum([-2, -1]);
      const distance = mahalanobis(b, q.loc.sub(p.loc));
      const excess = traces.add(distance).sub(p.eventShape[0] as number);
      return halfLogDet(b).sub(halfLogDet(a)).add(excess.mul(0.5));
    }),
  ];
}

// The divergence of one trial.
function klOfTrials(p: BinaryDistribution, q: BinaryDistribution): Tensor {
  const [a, b] = [p.probs, q.probs];
  const ofOnes = a.mul(q.logits.neg().softplus().sub(p.logits.neg().softplus()));
  const ones = infiniteWhere(b.eq(0), ofOnes).maskedFill(a.eq(0), 0);
  const ofZeros = oneMinus(a).mul(q.logits.softplus().sub(p.logits.softplus()));
  return ones.add(infiniteWhere(b.eq(1), ofZeros).maskedFill(a.eq(1), 0));
}

function klOfBinomials(p: Binomial, q: Binomial): Tensor {
  if (!holdsEverywhere(() => p.totalCount.ge(q.totalCount))) {
    const message = "expected p.totalCount >= q.totalCount for two Binomial.";
    fail("InvalidArgument", "klDivergence", message);
  }
  return infiniteWhere(p.totalCount.gt(q.totalCount), p.totalCount.mul(klOfTrials(p, q)));
}

function klOfClasses(p: ClassDistribution, q: ClassDistribution): Tensor {
  const each = infiniteWhere(q.probs.eq(0), p.probs.mul(p.logits.sub(q.logits)));
  return each.maskedFill(p.probs.eq(0), 0).sum(-1);
}

function klOfNormals(p: Normal, q: Normal): Tensor {
  const ratio = p.scale.div(q.scale).square();
  const distance = p.loc.sub(q.loc).div(q.scale).square();
  return ratio.add(distance).sub(1).sub(ratio.log()).mul(0.5);
}
