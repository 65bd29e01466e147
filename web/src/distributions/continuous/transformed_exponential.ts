// Distributions that powers and exponentials make of exponential ones.

import { readArguments } from "../../arguments/read.js";
import { onesLike } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastAll,
  kDistributionOptions,
  type Parameter,
  parameter,
  type Validation,
} from "../base/arguments.js";
import { kEulerGamma, oneMinus } from "../base/numbers.js";
import { TransformedDistribution } from "../combined/transformed_distribution.js";
import { type Constraint, greaterThanEq, positive } from "../constraints/constraints.js";
import { AffineTransform, PowerTransform } from "../transforms/affine.js";
import { ExpTransform } from "../transforms/plain.js";
import { Exponential } from "./exponential.js";

const kParetoArguments = { scale: parameter, alpha: parameter, ...kDistributionOptions };
const kWeibullArguments = { scale: parameter, concentration: parameter, ...kDistributionOptions };

/** Pareto distributions of type 1: of numbers from `scale` on, the larger the fewer. */
export class Pareto extends TransformedDistribution<
  Exponential,
  Record<"scale" | "alpha", Tensor>
> {
  constructor(...given: [scale: Parameter, alpha: Parameter, ...rest: Validation]) {
    const name = new.target.name;
    const { validateArgs, ...values } = readArguments(name, kParetoArguments, given);
    const [scale, alpha] = broadcastAll(name, values.scale, values.alpha);
    const base = new Exponential(alpha, { validateArgs: false });
    super(base, [new ExpTransform(), new AffineTransform(0, scale)], { validateArgs });
    this.take({ scale, alpha });
  }

  /** The least value. */
  get scale(): Tensor {
    return this.parameters.scale;
  }

  /** How fast the probability falls. */
  get alpha(): Tensor {
    return this.parameters.alpha;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { scale: positive, alpha: positive };
  }

  override get support(): Constraint {
    return greaterThanEq(this.scale);
  }

  override get mean(): Tensor {
    const alpha = this.alpha.clamp(1);
    return alpha.mul(this.scale).div(alpha.sub(1));
  }

  override get mode(): Tensor {
    return this.scale;
  }

  override get variance(): Tensor {
    const alpha = this.alpha.clamp(2);
    const below = alpha.sub(1).square().mul(alpha.sub(2));
    return this.scale.square().mul(alpha).div(below);
  }

  override entropy(): Tensor {
    const { scale, alpha } = this;
    return scale.div(alpha).log().add(alpha.reciprocal().add(1));
  }
}

/** Weibull distributions: of the time until something fails, the oftener the older for a `concentration` above 1. */
export class Weibull extends TransformedDistribution<
  Exponential,
  Record<"scale" | "concentration", Tensor>
> {
  constructor(...given: [scale: Parameter, concentration: Parameter, ...rest: Validation]) {
    const name = new.target.name;
    const { validateArgs, ...values } = readArguments(name, kWeibullArguments, given);
    const [scale, concentration] = broadcastAll(name, values.scale, values.concentration);
    const base = new Exponential(onesLike(scale), { validateArgs: false });
    const parts = [new PowerTransform(concentration.reciprocal()), new AffineTransform(0, scale)];
    super(base, parts, { validateArgs });
    this.take({ scale, concentration });
  }

  /** How wide the distribution is, often called lambda. */
  get scale(): Tensor {
    return this.parameters.scale;
  }

  /** The shape parameter, often called k. */
  get concentration(): Tensor {
    return this.parameters.concentration;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { scale: positive, concentration: positive };
  }

  override get support(): Constraint {
    return positive;
  }

  override get mean(): Tensor {
    return this.scale.mul(this.logMoment(1).exp());
  }

  override get mode(): Tensor {
    const { concentration } = this;
    const share = concentration.sub(1).div(concentration);
    return this.scale.mul(share.pow(concentration.reciprocal()));
  }

  override get variance(): Tensor {
    const spread = this.logMoment(2).exp().sub(this.logMoment(1).mul(2).exp());
    return this.scale.square().mul(spread);
  }

  override entropy(): Tensor {
    const inverse = this.concentration.reciprocal();
    return oneMinus(inverse).mul(kEulerGamma).add(this.scale.mul(inverse).log()).add(1);
  }

  /** Returns the logarithm of the mean of the power `order` for a scale of 1. */
  private logMoment(order: number): Tensor {
    return this.concentration.reciprocal().mul(order).add(1).lgamma();
  }
}
