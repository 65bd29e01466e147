import { readArguments } from "../arguments/read.js";
import { noGrad } from "../autograd/grad_mode.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  broadcastAll,
  kDistributionOptions,
  type Parameter,
  parameter,
  type SampleShape,
  type Validation,
} from "./arguments.js";
import { type Constraint, nonnegative, nonnegativeInteger } from "./constraints.js";
import { Distribution } from "./distribution.js";
import { poisson } from "./draws.js";

const kArguments = { rate: parameter, ...kDistributionOptions };

/** Poisson distributions: of the number of events, `rate` on average. */
export class Poisson extends Distribution<Record<"rate", Tensor>> {
  constructor(...given: [rate: Parameter, ...rest: Validation]) {
    const name = new.target.name;
    const { validateArgs, ...values } = readArguments(name, kArguments, given);
    const [rate] = broadcastAll(name, values.rate);
    super({ parameters: { rate }, batchShape: rate.shape, validateArgs });
  }

  /** The mean number of events. */
  get rate(): Tensor {
    return this.parameters.rate;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { rate: nonnegative };
  }

  override get support(): Constraint {
    return nonnegativeInteger;
  }

  override get mean(): Tensor {
    return this.rate;
  }

  override get mode(): Tensor {
    return this.rate.floor();
  }

  override get variance(): Tensor {
    return this.rate;
  }

  override sample(shape: SampleShape = []): Tensor {
    const extended = this.extendedShape("sample", shape);
    return noGrad(() => poisson(this.rate.expand(extended)));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    return value.xlogy(this.rate).sub(this.rate).sub(value.add(1).lgamma());
  }
}
