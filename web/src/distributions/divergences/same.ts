// Divergences of two distributions of the same class.

import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { broadcastShapes } from "../base/arguments.js";
import { holdsEverywhere, kEulerGamma, oneMinus } from "../base/numbers.js";
import { Exponential, Gamma } from "../continuous/gamma.js";
import { Cauchy, Gumbel, Laplace, Normal } from "../continuous/location_scale.js";
import { HalfNormal } from "../continuous/transformed.js";
import { Uniform } from "../continuous/uniform.js";
import { Categorical, OneHotCategorical } from "../discrete/categorical.js";
import type { ClassDistribution } from "../discrete/classes.js";
import { Poisson } from "../discrete/counts.js";
import { Bernoulli, Binomial, Geometric } from "../discrete/trials.js";
import { Beta, Dirichlet } from "../multivariate/dirichlet.js";
import { MultivariateNormal, mahalanobis } from "../multivariate/multivariate_normal.js";
import { halfLogDet, solveLower } from "../multivariate/spread.js";
import { type KlPair, pair, requireSameEvents } from "./pair.js";

/** Returns the divergences of two distributions of the same class. */
export function pairsOfSame(): KlPair[] {
  return [
    pair(Bernoulli, Bernoulli, klOfBernoullis),
    pair(Beta, Beta, klOfBetas),
    pair(Binomial, Binomial, klOfBinomials),
    pair(Categorical, Categorical, klOfClasses),
    pair(OneHotCategorical, OneHotCategorical, klOfClasses),
    pair(Dirichlet, Dirichlet, klOfDirichlets),
    pair(Exponential, Exponential, klOfExponentials),
    pair(Gamma, Gamma, klOfGammas),
    pair(Geometric, Geometric, klOfGeometrics),
    pair(HalfNormal, HalfNormal, (p, q) => klOfNormals(p.baseDist, q.baseDist)),
    pair(Normal, Normal, klOfNormals),
    pair(Laplace, Laplace, klOfLaplaces),
    pair(Gumbel, Gumbel, klOfGumbels),
    pair(Cauchy, Cauchy, klOfCauchys),
    pair(Poisson, Poisson, klOfPoissons),
    pair(Uniform, Uniform, klOfUniforms),
    pair(MultivariateNormal, MultivariateNormal, klOfMultivariateNormals),
  ];
}

function klOfBernoullis(p: Bernoulli, q: Bernoulli): Tensor {
  const [a, b] = [p.probs, q.probs];
  const ones = a
    .mul(q.logits.neg().softplus().sub(p.logits.neg().softplus()))
    .maskedFill(b.eq(0), Number.POSITIVE_INFINITY)
    .maskedFill(a.eq(0), 0);
  const zeros = oneMinus(a)
    .mul(q.logits.softplus().sub(p.logits.softplus()))
    .maskedFill(b.eq(1), Number.POSITIVE_INFINITY)
    .maskedFill(a.eq(1), 0);
  return ones.add(zeros);
}

function klOfBetas(p: Beta, q: Beta): Tensor {
  const [p1, p0, q1, q0] = [p.concentration1, p.concentration0, q.concentration1, q.concentration0];
  const [pSum, qSum] = [p1.add(p0), q1.add(q0)];
  return q1
    .lgamma()
    .add(q0.lgamma())
    .add(pSum.lgamma())
    .sub(p1.lgamma().add(p0.lgamma()).add(qSum.lgamma()))
    .add(p1.sub(q1).mul(p1.digamma()))
    .add(p0.sub(q0).mul(p0.digamma()))
    .add(qSum.sub(pSum).mul(pSum.digamma()));
}

function klOfBinomials(p: Binomial, q: Binomial): Tensor {
  if (!holdsEverywhere(() => p.totalCount.ge(q.totalCount))) {
    const told = "KL between Binomials where q.totalCount > p.totalCount is not implemented.";
    fail("InvalidArgument", "klDivergence", told);
  }
  const each = p.probs
    .mul(p.logits.sub(q.logits))
    .add(p.probs.neg().log1p())
    .sub(q.probs.neg().log1p());
  const isMore = p.totalCount.gt(q.totalCount);
  return p.totalCount.mul(each).maskedFill(isMore, Number.POSITIVE_INFINITY);
}

function klOfClasses(p: ClassDistribution, q: ClassDistribution): Tensor {
  return p.probs
    .mul(p.logits.sub(q.logits))
    .maskedFill(q.probs.eq(0), Number.POSITIVE_INFINITY)
    .maskedFill(p.probs.eq(0), 0)
    .sum(-1);
}

function klOfDirichlets(p: Dirichlet, q: Dirichlet): Tensor {
  const [a, b] = [p.concentration, q.concentration];
  const [aSum, bSum] = [a.sum(-1), b.sum(-1)];
  const pull = a.digamma().sub(aSum.digamma().unsqueeze(-1));
  return aSum
    .lgamma()
    .sub(bSum.lgamma())
    .sub(a.lgamma().sub(b.lgamma()).sum(-1))
    .add(a.sub(b).mul(pull).sum(-1));
}

function klOfExponentials(p: Exponential, q: Exponential): Tensor {
  const ratio = q.rate.div(p.rate);
  return ratio.sub(ratio.log()).sub(1);
}

function klOfGammas(p: Gamma, q: Gamma): Tensor {
  const [a, b] = [p.concentration, q.concentration];
  return b
    .mul(p.rate.div(q.rate).log())
    .add(b.lgamma().sub(a.lgamma()))
    .add(a.sub(b).mul(a.digamma()))
    .add(q.rate.sub(p.rate).mul(a.div(p.rate)));
}

function klOfGeometrics(p: Geometric, q: Geometric): Tensor {
  return p.entropy().neg().sub(q.probs.neg().log1p().div(p.probs)).sub(q.logits);
}

function klOfNormals(p: Normal, q: Normal): Tensor {
  const ratio = p.scale.div(q.scale).square();
  const distance = p.loc.sub(q.loc).div(q.scale).square();
  return ratio.add(distance).sub(1).sub(ratio.log()).mul(0.5);
}

function klOfLaplaces(p: Laplace, q: Laplace): Tensor {
  const ratio = p.scale.div(q.scale);
  const distance = p.loc.sub(q.loc).abs();
  const tail = ratio.mul(distance.neg().div(p.scale).exp());
  return distance.div(q.scale).sub(ratio.log()).add(tail).sub(1);
}

function klOfGumbels(p: Gumbel, q: Gumbel): Tensor {
  const ratio = p.scale.div(q.scale);
  const [pSteps, qSteps] = [p.loc.div(q.scale), q.loc.div(q.scale)];
  return pSteps
    .sub(qSteps)
    .sub(ratio.log())
    .add(ratio.mul(kEulerGamma))
    .add(qSteps.add(ratio.add(1).lgamma()).sub(pSteps).exp())
    .sub(1 + kEulerGamma);
}

function klOfCauchys(p: Cauchy, q: Cauchy): Tensor {
  const spread = p.scale.add(q.scale).square().add(p.loc.sub(q.loc).square());
  return spread.log().sub(p.scale.mul(4).mul(q.scale).log());
}

function klOfPoissons(p: Poisson, q: Poisson): Tensor {
  return p.rate.mul(p.rate.log().sub(q.rate.log())).sub(p.rate.sub(q.rate));
}

function klOfUniforms(p: Uniform, q: Uniform): Tensor {
  const isOutside = q.low.gt(p.low).logicalOr(q.high.lt(p.high));
  const ratio = q.high.sub(q.low).div(p.high.sub(p.low));
  return ratio.log().maskedFill(isOutside, Number.POSITIVE_INFINITY);
}

function klOfMultivariateNormals(p: MultivariateNormal, q: MultivariateNormal): Tensor {
  requireSameEvents(p, q);
  const [a, b] = [p.factor, q.factor];
  const shape = broadcastShapes("klDivergence", a.shape, b.shape);
  const traces = solveLower(b.expand(shape), a.expand(shape)).square().sum([-2, -1]);
  const distance = mahalanobis(b, q.loc.sub(p.loc));
  const count = p.eventShape[0] as number;
  return halfLogDet(b).sub(halfLogDet(a)).add(traces.add(distance).sub(count).mul(0.5));
}
