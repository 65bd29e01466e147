// Distributions of what gamma numbers divide.

import { readArguments } from "../../arguments/read.js";
import { log1p, where } from "../../generated/ops.js";
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
import { limitsOf } from "../base/numbers.js";
import { TransformedDistribution } from "../combined/transformed_distribution.js";
import { type Constraint, positive } from "../constraints/constraints.js";
import { PowerTransform } from "../transforms/affine.js";
import { Gamma } from "./gamma.js";

const kFisherArguments = { df1: parameter, df2: parameter, ...kDistributionOptions };
const kInverseArguments = { concentration: parameter, rate: parameter, ...kDistributionOptions };

/** Fisher-Snedecor distributions, or F: of the ratio of two variances, with `df1` and `df2` degrees of freedom. */
export class FisherSnedecor extends Distribution<Record<"df1" | "df2", Tensor>> {
  constructor(...given: [df1: Parameter, df2: Parameter, ...rest: Validation]) {
    const name = new.target.name;
    const { validateArgs, ...values } = readArguments(name, kFisherArguments, given);
    const [df1, df2] = broadcastAll(name, values.df1, values.df2);
    super({ parameters: { df1, df2 }, batchShape: df1.shape, validateArgs });
  }

  /** The degrees of freedom of the numerator. */
  get df1(): Tensor {
    return this.parameters.df1;
  }

  /** The degrees of freedom of the denominator. */
  get df2(): Tensor {
    return this.parameters.df2;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { df1: positive, df2: positive };
  }

  override get support(): Constraint {
    return positive;
  }

  override get hasRsample(): boolean {
    return true;
  }

  override get mean(): Tensor {
    const df2 = this.df2.maskedFill(this.df2.le(2), Number.NaN);
    return df2.div(df2.sub(2));
  }

  override get mode(): Tensor {
    const { df1, df2 } = this;
    const mode = df1.sub(2).div(df1).mul(df2).div(df2.add(2));
    return mode.maskedFill(df1.le(2), Number.NaN);
  }

  override get variance(): Tensor {
    const { df1 } = this;
    const df2 = this.df2.maskedFill(this.df2.le(4), Number.NaN);
    const above = df2.square().mul(2).mul(df1.add(df2).sub(2));
    return above.div(df1.mul(df2.sub(2).square()).mul(df2.sub(4)));
  }

  override rsample(shape: SampleShape = []): Tensor {
    const { tiny } = limitsOf(this.df1.dtype);
    const [above, below] = [this.df1, this.df2].map((df) =>
      new Gamma(df.mul(0.5), df, { validateArgs: false }).rsample(shape),
    ) as [Tensor, Tensor];
    return above.div(below.clamp(tiny)).clamp(tiny);
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const [half1, half2] = [this.df1.mul(0.5), this.df2.mul(0.5)];
    const [sum, ratio] = [half1.add(half2), this.df1.div(this.df2)];
    return sum
      .lgamma()
      .sub(half1.lgamma())
      .sub(half2.lgamma())
      .add(half1.mul(ratio.log()).add(half1.sub(1).mul(value.log())))
      .sub(sum.mul(log1p(ratio.mul(value))));
  }
}

/** Inverse gamma distributions: of the inverse of numbers of a gamma distribution. */
export class InverseGamma extends TransformedDistribution<
  Gamma,
  Record<"concentration" | "rate", Tensor>
> {
  constructor(...given: [concentration: Parameter, rate: Parameter, ...rest: Validation]) {
    const { validateArgs, ...values } = readArguments(new.target.name, kInverseArguments, given);
    const base = new Gamma(values.concentration, values.rate, { validateArgs: false });
    super(base, new PowerTransform(-1), { validateArgs });
    this.take({ concentration: base.concentration, rate: base.rate });
  }

  /** The shape parameter, often called alpha. */
  get concentration(): Tensor {
    return this.parameters.concentration;
  }

  /** The scale, often called beta. */
  get rate(): Tensor {
    return this.parameters.rate;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { concentration: positive, rate: positive };
  }

  override get support(): Constraint {
    return positive;
  }

  override get mean(): Tensor {
    const { concentration, rate } = this;
    const mean = rate.div(concentration.sub(1));
    return where(concentration.gt(1), mean, Number.POSITIVE_INFINITY);
  }

  override get mode(): Tensor {
    return this.rate.div(this.concentration.add(1));
  }

  override get variance(): Tensor {
    const { concentration, rate } = this;
    const below = concentration.sub(1).square().mul(concentration.sub(2));
    return where(concentration.gt(2), rate.square().div(below), Number.POSITIVE_INFINITY);
  }

  override entropy(): Tensor {
    const { concentration, rate } = this;
    return concentration
      .add(rate.log())
      .add(concentration.lgamma())
      .sub(concentration.add(1).mul(concentration.digamma()));
  }
}
