// Normal distributions, and what they become by exp(), abs() and the breaking of sticks.

import { readArguments } from "../../arguments/read.js";
import { mul, where, zerosLike } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  kDistributionOptions,
  type Parameter,
  parameter,
  type SampleShape,
  type Validation,
} from "../base/arguments.js";
import { standardNormal } from "../base/random.js";
import { Independent } from "../combined/independent.js";
import { TransformedDistribution } from "../combined/transformed_distribution.js";
import {
  type Constraint,
  nonnegative,
  positive,
  real,
  simplex,
} from "../constraints/constraints.js";
import { AbsTransform, ExpTransform } from "../transforms/plain.js";
import { StickBreakingTransform } from "../transforms/simplex.js";
import { kLocationScaleArguments, LocationScale } from "./location_scale.js";

const kHalfArguments = { scale: parameter, ...kDistributionOptions };

/** Normal distributions of mean `loc` and standard deviation `scale`. */
export class Normal extends LocationScale {
  override get mean(): Tensor {
    return this.loc;
  }

  override get variance(): Tensor {
    return this.scale.square();
  }

  override get stddev(): Tensor {
    return this.scale;
  }

  override rsample(shape: SampleShape = []): Tensor {
    const eps = standardNormal(this.extendedShape("rsample", shape), this.loc);
    return eps.mul(this.scale).add(this.loc);
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const squares = value.sub(this.loc).square().div(this.variance.mul(2));
    return squares
      .neg()
      .sub(this.scale.log())
      .sub(Math.log(Math.sqrt(2 * Math.PI)));
  }

  override cdf(value: Tensor): Tensor {
    this.validateSample("cdf", value);
    const steps = value.sub(this.loc).mul(this.scale.reciprocal()).div(Math.SQRT2);
    return steps.erf().add(1).mul(0.5);
  }

  override icdf(value: Tensor): Tensor {
    this.checkTensor("icdf", value);
    const steps = value.mul(2).sub(1).erfinv();
    return this.scale.mul(steps).mul(Math.SQRT2).add(this.loc);
  }

  override entropy(): Tensor {
    return this.scale.log().add(0.5 + 0.5 * Math.log(2 * Math.PI));
  }
}

/** Distributions of numbers whose logarithm is normal, of mean `loc` and standard deviation `scale`. */
export class LogNormal extends TransformedDistribution<Normal> {
  constructor(...given: [loc: Parameter, scale: Parameter, ...rest: Validation]) {
    const { validateArgs, loc, scale } = readArguments(
      new.target.name,
      kLocationScaleArguments,
      given,
    );
    const base = new Normal(loc, scale, { validateArgs: false });
    super(base, new ExpTransform(), { validateArgs });
    this.validateParameters({ loc: base.loc, scale: base.scale });
  }

  /** The mean of the logarithm. */
  get loc(): Tensor {
    return this.baseDist.loc;
  }

  /** The standard deviation of the logarithm. */
  get scale(): Tensor {
    return this.baseDist.scale;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { loc: real, scale: positive };
  }

  override get support(): Constraint {
    return positive;
  }

  override get mean(): Tensor {
    return this.scale.square().div(2).add(this.loc).exp();
  }

  override get mode(): Tensor {
    return this.loc.sub(this.scale.square()).exp();
  }

  override get variance(): Tensor {
    const variance = this.scale.square();
    return variance.exp().sub(1).mul(mul(2, this.loc).add(variance).exp());
  }

  override entropy(): Tensor {
    return this.baseDist.entropy().add(this.loc);
  }
}

/** Distributions of the magnitude of normal numbers of mean 0 and standard deviation `scale`. */
export class HalfNormal extends TransformedDistribution<Normal> {
  constructor(...given: [scale: Parameter, ...rest: Validation]) {
    const { validateArgs, scale } = readArguments(new.target.name, kHalfArguments, given);
    const base = new Normal(0, scale, { validateArgs: false });
    super(base, new AbsTransform(), { validateArgs });
    this.validateParameters({ scale: base.scale });
  }

  /** The standard deviation of the number whose magnitude it is. */
  get scale(): Tensor {
    return this.baseDist.scale;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { scale: positive };
  }

  override get support(): Constraint {
    return nonnegative;
  }

  override get mean(): Tensor {
    return this.scale.mul(Math.sqrt(2 / Math.PI));
  }

  override get mode(): Tensor {
    return zerosLike(this.scale);
  }

  override get variance(): Tensor {
    return this.scale.square().mul(1 - 2 / Math.PI);
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

/** Distributions of points of the simplex that are normal vectors broken off a stick, see `StickBreakingTransform`. */
export class LogisticNormal extends TransformedDistribution<Independent<Normal>> {
  constructor(...given: [loc: Parameter, scale: Parameter, ...rest: Validation]) {
    const { validateArgs, loc, scale } = readArguments(
      new.target.name,
      kLocationScaleArguments,
      given,
    );
    const normal = new Normal(loc, scale, { validateArgs });
    const base = normal.batchShape.length > 0 ? normal : normal.expand([1]);
    super(new Independent(base, 1), new StickBreakingTransform(), { validateArgs });
  }

  /** The means of the vectors. */
  get loc(): Tensor {
    return this.baseDist.baseDist.loc;
  }

  /** The standard deviations of the vectors. */
  get scale(): Tensor {
    return this.baseDist.baseDist.scale;
  }

  override get support(): Constraint {
    return simplex;
  }
}
