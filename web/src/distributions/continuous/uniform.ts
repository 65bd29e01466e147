// Uniform distributions, and those that powers make of them.

import { readArguments } from "../../arguments/read.js";
import { onesLike, zerosLike } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
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
import { holdsEverywhere, kEulerGamma, oneMinus } from "../base/numbers.js";
import { uniformUnit } from "../base/random.js";
import { TransformedDistribution } from "../combined/transformed_distribution.js";
import {
  type Constraint,
  dependent,
  interval,
  positive,
  unitInterval,
} from "../constraints/constraints.js";
import { AffineTransform, PowerTransform } from "../transforms/affine.js";

const kArguments = { low: parameter, high: parameter, ...kDistributionOptions };

/** Uniform distributions of numbers from `low` to below `high`. */
export class Uniform extends Distribution<Record<"low" | "high", Tensor>> {
  constructor(...given: [low: Parameter, high: Parameter, ...rest: Validation]) {
    const name = new.target.name;
    const { validateArgs, ...values } = readArguments(name, kArguments, given);
    const [low, high] = broadcastAll(name, values.low, values.high);
    super({ parameters: { low, high }, batchShape: low.shape, validateArgs });
    if (!this.validatesArgs || holdsEverywhere(() => low.lt(high))) return;
    const told = `Uniform is not defined when low >= high: low is\n${low.detach()}\nand high\n${high.detach()}`;
    fail("InvalidArgument", name, told);
  }

  /** The least value. */
  get low(): Tensor {
    return this.parameters.low;
  }

  /** The end of the values. */
  get high(): Tensor {
    return this.parameters.high;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { low: dependent, high: dependent };
  }

  override get support(): Constraint {
    return interval(this.low, this.high);
  }

  override get hasRsample(): boolean {
    return true;
  }

  override get mean(): Tensor {
    return this.high.add(this.low).div(2);
  }

  override get mode(): Tensor {
    return this.high.mul(Number.NaN);
  }

  override get variance(): Tensor {
    return this.width.square().div(12);
  }

  override get stddev(): Tensor {
    return this.width.div(Math.sqrt(12));
  }

  override rsample(shape: SampleShape = []): Tensor {
    const unit = uniformUnit(this.extendedShape("rsample", shape), this.low);
    return this.low.add(unit.mul(this.width));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const isInside = this.low.le(value).logicalAnd(this.high.gt(value));
    return isInside.to(this.low.dtype).log().sub(this.width.log());
  }

  override cdf(value: Tensor): Tensor {
    this.validateSample("cdf", value);
    return value.sub(this.low).div(this.width).clamp(0, 1);
  }

  override icdf(value: Tensor): Tensor {
    this.checkTensor("icdf", value);
    return value.mul(this.width).add(this.low);
  }

  override entropy(): Tensor {
    return this.width.log();
  }

  private get width(): Tensor {
    return this.high.sub(this.low);
  }
}

const kKumaraswamyArguments = {
  concentration1: parameter,
  concentration0: parameter,
  ...kDistributionOptions,
};

/** Kumaraswamy distributions: of numbers from 0 to 1 as `Beta`'s, with a distribution function in closed form. */
export class Kumaraswamy extends TransformedDistribution<
  Uniform,
  Record<"concentration1" | "concentration0", Tensor>
> {
  constructor(
    ...given: [concentration1: Parameter, concentration0: Parameter, ...rest: Validation]
  ) {
    const name = new.target.name;
    const call = readArguments(name, kKumaraswamyArguments, given);
    const [a, b] = broadcastAll(name, call.concentration1, call.concentration0);
    const base = new Uniform(zerosLike(b), onesLike(b), { validateArgs: false });
    const parts = [
      new PowerTransform(b.reciprocal()),
      new AffineTransform(1, -1),
      new PowerTransform(a.reciprocal()),
    ];
    super(base, parts, { validateArgs: call.validateArgs });
    this.take({ concentration1: a, concentration0: b });
  }

  /** The pull to 1, often called alpha. */
  get concentration1(): Tensor {
    return this.parameters.concentration1;
  }

  /** The pull to 0, often called beta. */
  get concentration0(): Tensor {
    return this.parameters.concentration0;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { concentration1: positive, concentration0: positive };
  }

  override get support(): Constraint {
    return unitInterval;
  }

  override get mean(): Tensor {
    return this.moment(1);
  }

  override get mode(): Tensor {
    const { concentration1: a, concentration0: b } = this;
    const logMode = b.reciprocal().mul(b.neg().log1p()).sub(b.neg().mul(a).log1p());
    return logMode.maskedFill(b.lt(1).logicalOr(a.lt(1)), Number.NaN).exp();
  }

  override get variance(): Tensor {
    return this.moment(2).sub(this.mean.square());
  }

  override entropy(): Tensor {
    const { concentration1: a, concentration0: b } = this;
    const harmonic = b.add(1).digamma().add(kEulerGamma);
    return oneMinus(b.reciprocal())
      .add(oneMinus(a.reciprocal()).mul(harmonic))
      .sub(a.log())
      .sub(b.log());
  }

  /** Returns the mean of the power `order`. */
  private moment(order: number): Tensor {
    const { concentration1: a, concentration0: b } = this;
    const power = a.reciprocal().mul(order).add(1);
    return b.mul(power.lgamma().add(b.lgamma()).sub(power.add(b).lgamma()).exp());
  }
}
