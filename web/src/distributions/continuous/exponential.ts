import { readArguments } from "../../arguments/read.js";
import { exponential_, zerosLike } from "../../generated/ops.js";
import { emptyToDraw } from "../../ops/samples.js";
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
import { oneMinus } from "../base/numbers.js";
import { type Constraint, nonnegative, positive } from "../constraints/constraints.js";

const kArguments = { rate: parameter, ...kDistributionOptions };

/** Exponential distributions: of the time until an event that comes `rate` times per unit. */
export class Exponential extends Distribution<Record<"rate", Tensor>> {
  constructor(...given: [rate: Parameter, ...rest: Validation]) {
    const name = new.target.name;
    const { validateArgs, ...values } = readArguments(name, kArguments, given);
    const [rate] = broadcastAll(name, values.rate);
    super({ parameters: { rate }, batchShape: rate.shape, validateArgs });
  }

  /** Events per unit. */
  get rate(): Tensor {
    return this.parameters.rate;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { rate: positive };
  }

  override get support(): Constraint {
    return nonnegative;
  }

  override get hasRsample(): boolean {
    return true;
  }

  override get mean(): Tensor {
    return this.rate.reciprocal();
  }

  override get mode(): Tensor {
    return zerosLike(this.rate);
  }

  override get variance(): Tensor {
    return this.rate.pow(-2);
  }

  override get stddev(): Tensor {
    return this.rate.reciprocal();
  }

  override rsample(shape: SampleShape = []): Tensor {
    return exponential_(emptyToDraw(this.extendedShape("rsample", shape), this.rate)).div(
      this.rate,
    );
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    return this.rate.log().sub(this.rate.mul(value));
  }

  override cdf(value: Tensor): Tensor {
    this.validateSample("cdf", value);
    return oneMinus(this.rate.mul(value).neg().exp());
  }

  override icdf(value: Tensor): Tensor {
    this.checkTensor("icdf", value);
    return oneMinus(value).log().neg().div(this.rate);
  }

  override entropy(): Tensor {
    return oneMinus(this.rate.log());
  }
}
