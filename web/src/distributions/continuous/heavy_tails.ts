// Laplace, Gumbel and Cauchy distributions: a standard draw, scaled and moved; and the magnitude of the last.

import { readArguments } from "../../arguments/read.js";
import { fullLike, rand, where, zerosLike } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  kDistributionOptions,
  type Parameter,
  parameter,
  type SampleShape,
  type Validation,
} from "../base/arguments.js";
import { kEulerGamma, limitsOf } from "../base/numbers.js";
import { uniformBetween, uniformUnit } from "../base/random.js";
import { TransformedDistribution } from "../combined/transformed_distribution.js";
import { type Constraint, nonnegative, positive } from "../constraints/constraints.js";
import { AbsTransform } from "../transforms/plain.js";
import { LocationScale } from "./location_scale.js";

/** Laplace distributions: exponential to both sides of `loc`. */
export class Laplace extends LocationScale {
  override get mean(): Tensor {
    return this.loc;
  }

  override get variance(): Tensor {
    return this.scale.square().mul(2);
  }

  override get stddev(): Tensor {
    return this.scale.mul(Math.SQRT2);
  }

  override rsample(shape: SampleShape = []): Tensor {
    const { loc, scale } = this;
    const { eps } = limitsOf(loc.dtype);
    const u = uniformBetween(this.extendedShape("rsample", shape), loc, eps - 1, 1);
    return loc.sub(scale.mul(u.sign()).mul(u.abs().neg().log1p()));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    return this.scale.mul(2).log().neg().sub(value.sub(this.loc).abs().div(this.scale));
  }

  override cdf(value: Tensor): Tensor {
    this.validateSample("cdf", value);
    const distance = value.sub(this.loc);
    const tail = distance.abs().neg().div(this.scale).expm1();
    return distance.sign().mul(tail).mul(-0.5).add(0.5);
  }

  override icdf(value: Tensor): Tensor {
    this.checkTensor("icdf", value);
    const term = value.sub(0.5);
    return this.loc.sub(this.scale.mul(term.sign()).mul(term.abs().mul(-2).log1p()));
  }

  override entropy(): Tensor {
    return this.scale.mul(2).log().add(1);
  }
}

/** Gumbel distributions: of the largest of many numbers. */
export class Gumbel extends LocationScale {
  override get mean(): Tensor {
    return this.loc.add(this.scale.mul(kEulerGamma));
  }

  override get variance(): Tensor {
    return this.stddev.square();
  }

  override get stddev(): Tensor {
    return this.scale.mul(Math.PI / Math.sqrt(6));
  }

  override rsample(shape: SampleShape = []): Tensor {
    const { eps, tiny } = limitsOf(this.loc.dtype);
    const unit = uniformUnit(this.extendedShape("rsample", shape), this.loc);
    const u = unit.mul(1 - eps - tiny).add(tiny);
    return this.loc.sub(this.scale.mul(u.log().neg().log()));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const y = this.standardized(value).neg();
    return y.sub(y.exp()).sub(this.scale.log());
  }

  override cdf(value: Tensor): Tensor {
    this.validateSample("cdf", value);
    return this.standardized(value).neg().exp().neg().exp();
  }

  override icdf(value: Tensor): Tensor {
    this.checkTensor("icdf", value);
    return this.loc.sub(this.scale.mul(value.log().neg().log()));
  }

  override entropy(): Tensor {
    return this.scale.log().add(1 + kEulerGamma);
  }
}

/** Cauchy distributions, which have no mean: of the ratio of two normal numbers. */
export class Cauchy extends LocationScale {
  override get mean(): Tensor {
    return fullLike(this.loc, Number.NaN);
  }

  override get variance(): Tensor {
    return fullLike(this.loc, Number.POSITIVE_INFINITY);
  }

  override rsample(shape: SampleShape = []): Tensor {
    const { loc, scale } = this;
    // In double precision whatever the dtype, as PyTorch draws it.
    const unit = rand(this.extendedShape("rsample", shape), { dtype: "float64" });
    const eps = unit.sub(0.5).mul(Math.PI).tan().to(loc.dtype).to(loc.device);
    return loc.add(eps.mul(scale));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const tails = this.standardized(value).square().add(1).log();
    return this.scale.log().neg().sub(Math.log(Math.PI)).sub(tails);
  }

  override cdf(value: Tensor): Tensor {
    this.validateSample("cdf", value);
    return this.standardized(value).atan().div(Math.PI).add(0.5);
  }

  override icdf(value: Tensor): Tensor {
    this.checkTensor("icdf", value);
    return value.sub(0.5).mul(Math.PI).tan().mul(this.scale).add(this.loc);
  }

  override entropy(): Tensor {
    return this.scale.log().add(Math.log(4 * Math.PI));
  }
}

const kHalfArguments = { scale: parameter, ...kDistributionOptions };

/** Distributions of the magnitude of numbers of a Cauchy distribution around 0. */
export class HalfCauchy extends TransformedDistribution<Cauchy, Record<"scale", Tensor>> {
  constructor(...given: [scale: Parameter, ...rest: Validation]) {
    const { validateArgs, scale } = readArguments(new.target.name, kHalfArguments, given);
    const base = new Cauchy(0, scale, { validateArgs: false });
    super(base, new AbsTransform(), { validateArgs });
    this.take({ scale: base.scale });
  }

  /** How wide the distribution is. */
  get scale(): Tensor {
    return this.parameters.scale;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { scale: positive };
  }

  override get support(): Constraint {
    return nonnegative;
  }

  override get mean(): Tensor {
    return fullLike(this.scale, Number.POSITIVE_INFINITY);
  }

  override get mode(): Tensor {
    return zerosLike(this.scale);
  }

  override get variance(): Tensor {
    return this.baseDist.variance;
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const folded = this.baseDist.logProb(value).add(Math.log(2));
    return where(value.ge(0), folded, Number.NEGATIVE_INFINITY);
  }

  override cdf(value: Tensor): Tensor {
    this.validateSample("cdf", value);
    return this.baseDist.cdf(value).mul(2).sub(1);
  }

  override icdf(value: Tensor): Tensor {
    this.checkTensor("icdf", value);
    return this.baseDist.icdf(value.add(1).div(2));
  }

  override entropy(): Tensor {
    return this.baseDist.entropy().sub(Math.log(2));
  }
}
