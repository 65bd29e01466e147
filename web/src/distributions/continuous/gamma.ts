// Gamma distributions, and those that are made of them.

import { type Arguments, readArguments } from "../../arguments/read.js";
import type { Options } from "../../arguments/rule.js";
import { gammainc, xlogy } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastAll,
  kDistributionOptions,
  type Parameter,
  parameter,
  type SampleShape,
  type Validation,
} from "../base/arguments.js";
import { Distribution } from "../base/distribution.js";
import { limitsOf, oneMinus } from "../base/numbers.js";
import { standardGamma, standardNormal } from "../base/random.js";
import { type Constraint, nonnegative, positive, real } from "../constraints/constraints.js";

const kArguments = { concentration: parameter, rate: parameter, ...kDistributionOptions };
const kChi2Arguments = { df: parameter, ...kDistributionOptions };

const kStudentTOptions = {
  /** The mode; default 0. */
  loc: parameter.or(0),
  /** The width; default 1. */
  scale: parameter.or(1),
  ...kDistributionOptions,
};
const kStudentTArguments = { df: parameter, ...kStudentTOptions };

/** Options of `StudentT`. */
export type StudentTOptions = Options<typeof kStudentTOptions>;

/** Gamma distributions of shape `concentration` and mean `concentration / rate`. */
export class Gamma extends Distribution<Record<"concentration" | "rate", Tensor>> {
  constructor(...given: [concentration: Parameter, rate: Parameter, ...rest: Validation]) {
    const name = new.target.name;
    const { validateArgs, ...values } = readArguments(name, kArguments, given);
    const [concentration, rate] = broadcastAll(name, values.concentration, values.rate);
    const parameters = { concentration, rate };
    super({ parameters, batchShape: rate.shape, validateArgs });
  }

  /** The shape parameter, often called alpha. */
  get concentration(): Tensor {
    return this.parameters.concentration;
  }

  /** The inverse of the scale, often called beta. */
  get rate(): Tensor {
    return this.parameters.rate;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { concentration: positive, rate: positive };
  }

  override get support(): Constraint {
    return nonnegative;
  }

  override get hasRsample(): boolean {
    return true;
  }

  override get mean(): Tensor {
    return this.concentration.div(this.rate);
  }

  override get mode(): Tensor {
    return this.concentration.sub(1).div(this.rate).clamp(0);
  }

  override get variance(): Tensor {
    return this.concentration.div(this.rate.square());
  }

  override rsample(shape: SampleShape = []): Tensor {
    const extended = this.extendedShape("rsample", shape);
    const value = standardGamma(this.concentration.expand(extended)).div(this.rate);
    // A draw that underflows has no logarithm; moving it up is no part of its gradient.
    value.detach().clamp_(limitsOf(value.dtype).tiny);
    return value;
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const { concentration, rate } = this;
    return xlogy(concentration, rate)
      .add(xlogy(concentration.sub(1), value))
      .sub(rate.mul(value))
      .sub(concentration.lgamma());
  }

  override cdf(value: Tensor): Tensor {
    this.validateSample("cdf", value);
    return gammainc(this.concentration, this.rate.mul(value));
  }

  override entropy(): Tensor {
    const { concentration, rate } = this;
    const spread = oneMinus(concentration).mul(concentration.digamma());
    return concentration.sub(rate.log()).add(concentration.lgamma()).add(spread);
  }
}

/** Chi-squared distributions: of the sum of the squares of `df` standard normal numbers. */
export class Chi2 extends Gamma {
  constructor(...given: [df: Parameter, ...rest: Validation]) {
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

/** Student's t distributions with `df` degrees of freedom. */
export class StudentT extends Distribution<Record<"df" | "loc" | "scale", Tensor>> {
  constructor(
    ...given: [
      df: Parameter,
      ...rest: Arguments<
        [loc: Parameter, scale: Parameter, validateArgs: boolean | null],
        StudentTOptions
      >,
    ]
  ) {
    const name = new.target.name;
    const { validateArgs, ...values } = readArguments(name, kStudentTArguments, given);
    const [df, loc, scale] = broadcastAll(name, values.df, values.loc, values.scale);
    super({ parameters: { df, loc, scale }, batchShape: df.shape, validateArgs });
  }

  /** The degrees of freedom. */
  get df(): Tensor {
    return this.parameters.df;
  }

  /** Where the distribution is. */
  get loc(): Tensor {
    return this.parameters.loc;
  }

  /** How wide the distribution is. */
  get scale(): Tensor {
    return this.parameters.scale;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { df: positive, loc: real, scale: positive };
  }

  override get support(): Constraint {
    return real;
  }

  override get hasRsample(): boolean {
    return true;
  }

  override get mean(): Tensor {
    return this.loc.maskedFill(this.df.le(1), Number.NaN);
  }

  override get mode(): Tensor {
    return this.loc;
  }

  override get variance(): Tensor {
    const { df, scale } = this;
    // The formula sees no degrees of freedom at which its gradient is not finite.
    const finite = df.maskedFill(df.le(2), 3);
    return scale
      .square()
      .mul(finite)
      .div(finite.sub(2))
      .maskedFill(df.le(2), Number.POSITIVE_INFINITY)
      .maskedFill(df.le(1), Number.NaN);
  }

  override rsample(shape: SampleShape = []): Tensor {
    const { df } = this;
    const x = standardNormal(this.extendedShape("rsample", shape), df);
    const z = new Chi2(df, { validateArgs: false }).rsample(shape);
    return this.loc.add(this.scale.mul(x.mul(z.div(df).rsqrt())));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const { df, loc, scale } = this;
    const y = value.sub(loc).div(scale);
    const logNormalizer = scale
      .log()
      .add(df.log().mul(0.5))
      .add(0.5 * Math.log(Math.PI))
      .add(df.mul(0.5).lgamma())
      .sub(df.add(1).mul(0.5).lgamma());
    return df.add(1).mul(-0.5).mul(y.square().div(df).log1p()).sub(logNormalizer);
  }

  override entropy(): Tensor {
    const { df, scale } = this;
    const half = df.mul(0.5);
    const upper = df.add(1).mul(0.5);
    // lgamma(1/2) is log(pi) / 2.
    const logBeta = half
      .lgamma()
      .add(0.5 * Math.log(Math.PI))
      .sub(upper.lgamma());
    const spread = upper.mul(upper.digamma().sub(half.digamma()));
    return scale.log().add(spread).add(df.log().mul(0.5)).add(logBeta);
  }
}
