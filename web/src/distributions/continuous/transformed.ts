// Distributions of transformed normal, Cauchy, exponential, gamma and uniform variables.

import { readArguments } from "../../arguments/read.js";
import { fullLike, onesLike, where, xlog1py, xlogy, zerosLike } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  type DistributionOptions,
  kDistributionOptions,
  type Parameter,
  parameter,
} from "../base/arguments.js";
import type { Constraints, Given } from "../base/declaration.js";
import type { Distribution, Formulas } from "../base/distribution.js";
import { kEulerGamma, oneMinus, vanishingAtInfinity } from "../base/numbers.js";
import { Independent } from "../combined/independent.js";
import {
  type DeclaredTransformed,
  type TransformedDeclaration,
  TransformedDistribution,
  transformed,
} from "../combined/transformed_distribution.js";
import type { Constraint } from "../constraints/constraint.js";
import {
  greaterThanEq,
  nonnegative,
  positive,
  real,
  simplex,
  unitInterval,
} from "../constraints/constraints.js";
import { AffineTransform, PowerTransform } from "../transforms/parametric.js";
import { AbsTransform, ExpTransform, StickBreakingTransform } from "../transforms/plain.js";
import { Exponential, Gamma } from "./gamma.js";
import { Cauchy, Normal } from "./location_scale.js";
import { Uniform } from "./uniform.js";

const kUnchecked = { validateArgs: false };

/** Distribution of numbers whose logarithm is normal with mean `loc` and standard deviation `scale`. */
export class LogNormal extends transformed({
  given: {} as Given<[loc: Parameter, scale: Parameter]>,
  parameters: {
    /** The mean of the logarithm. */
    loc: real,
    /** The standard deviation of the logarithm. */
    scale: positive,
  },
  base: ({ loc, scale }) => new Normal(loc, scale, kUnchecked),
  transforms: () => new ExpTransform(),
  parameter: ({ baseDist }, name) => baseDist[name],
  support: positive,
  logProb({ baseDist }, value) {
    const logarithm = value.log();
    return vanishingAtInfinity(baseDist.logProb(logarithm).sub(logarithm), logarithm);
  },
  mean: ({ loc, scale }) => scale.square().div(2).add(loc).exp(),
  mode: ({ loc, scale }) => loc.sub(scale.square()).exp(),
  variance({ loc, scale }) {
    const variance = scale.square();
    return variance.exp().sub(1).mul(loc.mul(2).add(variance).exp());
  },
  entropy: ({ baseDist, loc }) => baseDist.entropy().add(loc),
}) {}

const kLogisticNormalArguments = { loc: parameter, scale: parameter, ...kDistributionOptions };

/** Distribution of points of the simplex: normal vectors after `StickBreakingTransform`. */
export class LogisticNormal extends TransformedDistribution<Independent<Normal>> {
  constructor(loc: Parameter, scale: Parameter, validateArgs?: boolean | null);
  constructor(loc: Parameter, scale: Parameter, options?: DistributionOptions);
  constructor(...given: unknown[]) {
    const call = readArguments(new.target.name, kLogisticNormalArguments, given);
    const { loc, scale, validateArgs } = call;
    const normal = new Normal(loc, scale, { validateArgs });
    const base = normal.batchShape.length > 0 ? normal : normal.expand([1]);
    super(new Independent(base, 1), new StickBreakingTransform(), { validateArgs });
  }

  /** The means of the normal vectors. */
  get loc(): Tensor {
    return this.baseDist.baseDist.loc;
  }

  /** The standard deviations of the normal vectors. */
  get scale(): Tensor {
    return this.baseDist.baseDist.scale;
  }

  override get support(): Constraint {
    return simplex;
  }
}

type OfScale = { readonly scale: Constraint };

// The absolute value of a variable whose distribution is symmetric around 0.
function magnitude<C extends Constraints & OfScale, Base extends Distribution>(
  declaration: Pick<
    TransformedDeclaration<Given<[scale: Parameter]>, C, Base>,
    "parameters" | "base"
  > &
    Formulas<DeclaredTransformed<C, Base>>,
) {
  return transformed<Given<[scale: Parameter]>, C, Base>({
    given: {} as Given<[scale: Parameter]>,
    transforms: () => new AbsTransform(),
    support: nonnegative,
    mode: ({ scale }) => zerosLike(scale),
    logProb({ baseDist }, value) {
      const folded = baseDist.logProb(value).add(Math.log(2));
      return where(value.ge(0), folded, Number.NEGATIVE_INFINITY);
    },
    cdf: ({ baseDist }, value) => baseDist.cdf(value).mul(2).sub(1),
    icdf: ({ baseDist }, value) => baseDist.icdf(value.add(1).div(2)),
    entropy: ({ baseDist }) => baseDist.entropy().sub(Math.log(2)),
    ...declaration,
  });
}

/** Distribution of the absolute value of a normal variable of mean 0 and standard deviation `scale`. */
export class HalfNormal extends magnitude({
  parameters: {
    /** The standard deviation of the normal variable. */
    scale: positive,
  },
  base: ({ scale }) => new Normal(0, scale, kUnchecked),
  parameter: ({ baseDist }, name) => baseDist[name],
  mean: ({ scale }) => scale.mul(Math.sqrt(2 / Math.PI)),
  variance: ({ scale }) => scale.square().mul(1 - 2 / Math.PI),
}) {}

/** Distribution of the absolute value of a Cauchy variable of location 0. */
export class HalfCauchy extends magnitude({
  parameters: {
    /** The scale. */
    scale: positive,
  },
  base: ({ scale }) => new Cauchy(0, scale, kUnchecked),
  mean: ({ scale }) => fullLike(scale, Number.POSITIVE_INFINITY),
  variance: ({ baseDist }) => baseDist.variance,
}) {}

/** Pareto distribution of type 1, of numbers from `scale` upwards. */
export class Pareto extends transformed({
  given: {} as Given<[scale: Parameter, alpha: Parameter]>,
  parameters: {
    /** The smallest value. */
    scale: positive,
    /** The shape parameter: the density falls as the power -(alpha + 1). */
    alpha: positive,
  },
  base: ({ alpha }) => new Exponential(alpha, kUnchecked),
  transforms: ({ scale }) => [new ExpTransform(), new AffineTransform(0, scale)],
  support: ({ scale }) => greaterThanEq(scale),
  mean({ scale, alpha }) {
    const above = alpha.clamp(1);
    return above.mul(scale).div(above.sub(1));
  },
  mode: ({ scale }) => scale,
  variance({ scale, alpha }) {
    const above = alpha.clamp(2);
    return scale
      .square()
      .mul(above)
      .div(above.sub(1).square().mul(above.sub(2)));
  },
  entropy: ({ scale, alpha }) => scale.div(alpha).log().add(alpha.reciprocal().add(1)),
}) {}

/** Weibull distribution of the time until a failure; for a `concentration` above 1 the failure rate grows with time. */
export class Weibull extends transformed({
  given: {} as Given<[scale: Parameter, concentration: Parameter]>,
  parameters: {
    /** The scale, often called lambda. */
    scale: positive,
    /** The shape parameter, often called k. */
    concentration: positive,
  },
  base: ({ scale }) => new Exponential(onesLike(scale), kUnchecked),
  transforms: ({ scale, concentration }) => [
    new PowerTransform(concentration.reciprocal()),
    new AffineTransform(0, scale),
  ],
  support: positive,
  // The factors of the transforms are 0 / 0 at 0, where the density may be finite.
  logProb({ scale, concentration: k }, value) {
    const share = value.div(scale);
    const logPowers = k
      .div(scale)
      .log()
      .add(xlogy(k.sub(1), share));
    return vanishingAtInfinity(logPowers.sub(share.pow(k)), value);
  },
  mean: ({ scale, concentration }) => scale.mul(logMoment(concentration, 1).exp()),
  mode({ scale, concentration }) {
    const share = concentration.sub(1).div(concentration);
    return scale.mul(share.pow(concentration.reciprocal()));
  },
  variance({ scale, concentration }) {
    const spread = logMoment(concentration, 2).exp().sub(logMoment(concentration, 1).mul(2).exp());
    return scale.square().mul(spread);
  },
  entropy({ scale, concentration }) {
    const inverse = concentration.reciprocal();
    return oneMinus(inverse).mul(kEulerGamma).add(scale.mul(inverse).log()).add(1);
  },
}) {}

// The logarithm of the mean of the power `order` of a Weibull distribution of scale 1.
function logMoment(concentration: Tensor, order: number): Tensor {
  return concentration.reciprocal().mul(order).add(1).lgamma();
}

/** Inverse gamma distribution of the reciprocal of a gamma variable. */
export class InverseGamma extends transformed({
  given: {} as Given<[concentration: Parameter, rate: Parameter]>,
  parameters: {
    /** The shape parameter, often called alpha. */
    concentration: positive,
    /** The scale, often called beta. */
    rate: positive,
  },
  base: ({ concentration, rate }) => new Gamma(concentration, rate, kUnchecked),
  transforms: () => new PowerTransform(-1),
  support: positive,
  logProb({ concentration: a, rate }, value) {
    const reciprocal = value.reciprocal();
    const logPowers = a.mul(rate.log()).sub(a.add(1).mul(value.log()));
    const logDensity = logPowers.sub(rate.mul(reciprocal)).sub(a.lgamma());
    return vanishingAtInfinity(logDensity, reciprocal);
  },
  mean({ concentration, rate }) {
    const mean = rate.div(concentration.sub(1));
    return where(concentration.gt(1), mean, Number.POSITIVE_INFINITY);
  },
  mode: ({ concentration, rate }) => rate.div(concentration.add(1)),
  variance({ concentration, rate }) {
    const below = concentration.sub(1).square().mul(concentration.sub(2));
    return where(concentration.gt(2), rate.square().div(below), Number.POSITIVE_INFINITY);
  },
  entropy({ concentration, rate }) {
    const spread = concentration.add(1).mul(concentration.digamma());
    return concentration.add(rate.log()).add(concentration.lgamma()).sub(spread);
  },
}) {}

/** Kumaraswamy distribution of numbers from 0 to 1: similar to `Beta`, with a cumulative distribution function in closed form. */
export class Kumaraswamy extends transformed({
  given: {} as Given<[concentration1: Parameter, concentration0: Parameter]>,
  parameters: {
    /** The shape parameter that pulls towards 1, often called alpha. */
    concentration1: positive,
    /** The shape parameter that pulls towards 0, often called beta. */
    concentration0: positive,
  },
  base: ({ concentration0: b }) => new Uniform(zerosLike(b), onesLike(b), kUnchecked),
  transforms: ({ concentration1: a, concentration0: b }) => [
    new PowerTransform(b.reciprocal()),
    new AffineTransform(1, -1),
    new PowerTransform(a.reciprocal()),
  ],
  support: unitInterval,
  logProb({ concentration1: a, concentration0: b }, value) {
    const logPowers = xlogy(a.sub(1), value).add(xlog1py(b.sub(1), value.pow(a).neg()));
    return a.log().add(b.log()).add(logPowers);
  },
  mean: (self) => powerMean(self, 1),
  mode({ concentration1: a, concentration0: b }) {
    const logMode = b.reciprocal().mul(b.neg().log1p()).sub(b.neg().mul(a).log1p());
    return logMode.maskedFill(b.lt(1).logicalOr(a.lt(1)), Number.NaN).exp();
  },
  variance: (self) => powerMean(self, 2).sub(self.mean.square()),
  entropy({ concentration1: a, concentration0: b }) {
    const harmonic = b.add(1).digamma().add(kEulerGamma);
    const ofB = oneMinus(b.reciprocal());
    return ofB.add(oneMinus(a.reciprocal()).mul(harmonic)).sub(a.log()).sub(b.log());
  },
}) {}

// The mean of the power `order` of a Kumaraswamy distribution.
function powerMean(
  self: Record<"concentration1" | "concentration0", Tensor>,
  order: number,
): Tensor {
  const { concentration1: a, concentration0: b } = self;
  const power = a.reciprocal().mul(order).add(1);
  return b.mul(power.lgamma().add(b.lgamma()).sub(power.add(b).lgamma()).exp());
}
