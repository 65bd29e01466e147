// Exponential and gamma distributions, and distributions of sums and ratios of their values.

import { type Forms, readArguments } from "../../arguments/read.js";
import type { Options } from "../../arguments/rule.js";
import { exponential_, gammainc, log1p, xlogy, zerosLike } from "../../generated/ops.js";
import { emptyToDraw } from "../../ops/samples.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastAll,
  type DistributionOptions,
  kDistributionOptions,
  type Parameter,
  parameter,
} from "../base/arguments.js";
import { distribution, type Given } from "../base/declaration.js";
import { limitsOf, oneMinus, vanishingAtInfinity } from "../base/numbers.js";
import { standardGamma, standardNormal } from "../base/random.js";
import type { Constraint } from "../constraints/constraint.js";
import { nonnegative, positive, real } from "../constraints/constraints.js";

/** Exponential distribution of the waiting time until an event that occurs at `rate`. */
export class Exponential extends distribution({
  given: {} as Given<[rate: Parameter]>,
  parameters: {
    /** The rate: events per unit of time. */
    rate: positive,
  },
  support: nonnegative,
  mean: ({ rate }) => rate.reciprocal(),
  mode: ({ rate }) => zerosLike(rate),
  variance: ({ rate }) => rate.pow(-2),
  stddev: ({ rate }) => rate.reciprocal(),
  rsample: ({ rate }, shape) => exponential_(emptyToDraw(shape, rate)).div(rate),
  logProb: ({ rate }, value) => rate.log().sub(rate.mul(value)),
  cdf: ({ rate }, value) => oneMinus(rate.mul(value).neg().exp()),
  icdf: ({ rate }, value) => oneMinus(value).log().neg().div(rate),
  entropy: ({ rate }) => oneMinus(rate.log()),
}) {}

/** Gamma distribution of shape `concentration` and mean `concentration / rate`. */
export class Gamma extends distribution({
  given: {} as Given<[concentration: Parameter, rate: Parameter]>,
  parameters: {
    /** The shape parameter, often called alpha. */
    concentration: positive,
    /** The inverse of the scale, often called beta. */
    rate: positive,
  },
  support: nonnegative,
  mean: ({ concentration, rate }) => concentration.div(rate),
  mode: ({ concentration, rate }) => concentration.sub(1).div(rate).clamp(0),
  variance: ({ concentration, rate }) => concentration.div(rate.square()),
  rsample({ concentration, rate }, shape) {
    const value = standardGamma(concentration.expand(shape)).div(rate);
    // A draw that underflows to 0 has no finite logarithm. The clamp is not differentiated.
    value.detach().clamp_(limitsOf(value.dtype).tiny);
    return value;
  },
  logProb({ concentration, rate }, value) {
    const logPowers = xlogy(concentration, rate).add(xlogy(concentration.sub(1), value));
    const logDensity = logPowers.sub(rate.mul(value)).sub(concentration.lgamma());
    return vanishingAtInfinity(logDensity, value);
  },
  cdf: ({ concentration, rate }, value) => gammainc(concentration, rate.mul(value)),
  entropy({ concentration, rate }) {
    const spread = oneMinus(concentration).mul(concentration.digamma());
    return concentration.sub(rate.log()).add(concentration.lgamma()).add(spread);
  },
}) {}

const kChi2Arguments = { df: parameter, ...kDistributionOptions };

/** Chi-squared distribution of the sum of the squares of `df` standard normal variables. */
export class Chi2 extends Gamma {
  constructor(df: Parameter, validateArgs?: boolean | null);
  constructor(df: Parameter, options?: DistributionOptions);
  constructor(...given: unknown[]) {
    const name = new.target.name;
    const { df, validateArgs } = readArguments(name, kChi2Arguments, given);
    const [degrees] = broadcastAll(name, df);
    super(degrees.mul(0.5), 0.5, { validateArgs });
    this.validateParameters({ df: degrees });
  }

  /** The degrees of freedom. */
  get df(): Tensor {
    return this.concentration.mul(2);
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { df: positive };
  }
}

const kStudentTOptions = {
  /** The location; default 0. */
  loc: parameter.or(0),
  /** The scale; default 1. */
  scale: parameter.or(1),
};

/** Options of `StudentT`. */
export interface StudentTOptions extends DistributionOptions, Options<typeof kStudentTOptions> {}

/** Student's t distribution with `df` degrees of freedom. */
export class StudentT extends distribution({
  given: {} as [
    df: Parameter,
    ...rest: Forms<
      [loc: Parameter, scale: Parameter, validateArgs: boolean | null],
      StudentTOptions
    >,
  ],
  arguments: { df: parameter, ...kStudentTOptions, ...kDistributionOptions },
  parameters: {
    /** The degrees of freedom. */
    df: positive,
    /** The location. */
    loc: real,
    /** The scale. */
    scale: positive,
  },
  support: real,
  mean: ({ df, loc }) => loc.maskedFill(df.le(1), Number.NaN),
  mode: ({ loc }) => loc,
  variance({ df, scale }) {
    // Degrees of freedom up to 2 are replaced, since the gradient of the formula is not finite there.
    const finite = df.maskedFill(df.le(2), 3);
    const variance = scale.square().mul(finite).div(finite.sub(2));
    const orInfinite = variance.maskedFill(df.le(2), Number.POSITIVE_INFINITY);
    return orInfinite.maskedFill(df.le(1), Number.NaN);
  },
  rsample({ df, loc, scale }, shape, sampleShape) {
    const x = standardNormal(shape, df);
    const z = new Chi2(df, { validateArgs: false }).rsample(sampleShape);
    return loc.add(scale.mul(x.mul(z.div(df).rsqrt())));
  },
  logProb({ df, loc, scale }, value) {
    const y = value.sub(loc).div(scale);
    const logScale = scale
      .log()
      .add(df.log().mul(0.5))
      .add(0.5 * Math.log(Math.PI));
    const logNormalizer = logScale.add(df.mul(0.5).lgamma()).sub(df.add(1).mul(0.5).lgamma());
    return df.add(1).mul(-0.5).mul(y.square().div(df).log1p()).sub(logNormalizer);
  },
  entropy({ df, scale }) {
    const [half, upper] = [df.mul(0.5), df.add(1).mul(0.5)];
    // lgamma(1/2) is log(pi) / 2.
    const logBeta = half
      .lgamma()
      .add(0.5 * Math.log(Math.PI))
      .sub(upper.lgamma());
    const spread = upper.mul(upper.digamma().sub(half.digamma()));
    return scale.log().add(spread).add(df.log().mul(0.5)).add(logBeta);
  },
}) {}

/** Fisher-Snedecor, or F, distribution of the ratio of two variances with `df1` and `df2` degrees of freedom. */
export class FisherSnedecor extends distribution({
  given: {} as Given<[df1: Parameter, df2: Parameter]>,
  parameters: {
    /** The degrees of freedom of the numerator. */
    df1: positive,
    /** The degrees of freedom of the denominator. */
    df2: positive,
  },
  support: positive,
  mean({ df2 }) {
    const above = df2.maskedFill(df2.le(2), Number.NaN);
    return above.div(above.sub(2));
  },
  mode({ df1, df2 }) {
    const mode = df1.sub(2).div(df1).mul(df2).div(df2.add(2));
    return mode.maskedFill(df1.le(2), Number.NaN);
  },
  variance({ df1, df2 }) {
    const above = df2.maskedFill(df2.le(4), Number.NaN);
    const numerator = above.square().mul(2).mul(df1.add(above).sub(2));
    return numerator.div(df1.mul(above.sub(2).square()).mul(above.sub(4)));
  },
  rsample({ df1, df2 }, _shape, sampleShape) {
    const { tiny } = limitsOf(df1.dtype);
    const drawn = (df: Tensor) =>
      new Gamma(df.mul(0.5), df, { validateArgs: false }).rsample(sampleShape);
    const numerator = drawn(df1);
    return numerator.div(drawn(df2).clamp(tiny)).clamp(tiny);
  },
  logProb({ df1, df2 }, value) {
    const [half1, half2] = [df1.mul(0.5), df2.mul(0.5)];
    const [sum, ratio] = [half1.add(half2), df1.div(df2)];
    const logBeta = sum.lgamma().sub(half1.lgamma()).sub(half2.lgamma());
    const logPowers = half1.mul(ratio.log()).add(xlogy(half1.sub(1), value));
    const logDensity = logBeta.add(logPowers).sub(sum.mul(log1p(ratio.mul(value))));
    return vanishingAtInfinity(logDensity, value);
  },
}) {}
