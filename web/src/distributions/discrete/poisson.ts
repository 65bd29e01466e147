// Distributions of counts without an end.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { noGrad } from "../../autograd/grad_mode.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastAll,
  type GivenProbabilities,
  kDistributionOptions,
  kProbabilityOptions,
  type Parameter,
  type ProbabilityOptions,
  parameter,
  type SampleShape,
  shapeOf,
  type Validation,
} from "../base/arguments.js";
import { Distribution } from "../base/distribution.js";
import { poisson } from "../base/random.js";
import {
  type Constraint,
  greaterThanEq,
  halfOpenInterval,
  nonnegative,
  nonnegativeInteger,
} from "../constraints/constraints.js";
import { Gamma } from "../continuous/gamma.js";
import { BinaryDistribution, readCounted } from "./binary.js";

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

const kNegativeArguments = { totalCount: parameter, ...kProbabilityOptions };

/** Negative binomial distributions: of the number of successes before `totalCount` failures. */
export class NegativeBinomial extends BinaryDistribution<
  GivenProbabilities & Record<"totalCount", Tensor>
> {
  constructor(
    ...given: [
      totalCount: Parameter,
      ...rest: Arguments<
        [probs: Parameter | null, logits: Parameter | null, validateArgs: boolean | null],
        ProbabilityOptions
      >,
    ]
  ) {
    const name = new.target.name;
    const { totalCount, ...call } = readArguments(name, kNegativeArguments, given);
    const parameters = readCounted(name, totalCount, call.probs, call.logits);
    const batchShape = parameters.totalCount.shape;
    super({ parameters, batchShape, validateArgs: call.validateArgs });
  }

  /** The number of failures, whole or not. */
  get totalCount(): Tensor {
    return this.parameters.totalCount;
  }

  /** What each parameter may be. */
  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return {
      totalCount: greaterThanEq(0),
      ...super.argConstraints,
      probs: halfOpenInterval(0, 1),
    };
  }

  override get support(): Constraint {
    return nonnegativeInteger;
  }

  override get mean(): Tensor {
    return this.totalCount.mul(this.logits.exp());
  }

  override get mode(): Tensor {
    return this.totalCount.sub(1).mul(this.logits.exp()).floor().clamp(0);
  }

  override get variance(): Tensor {
    return this.mean.div(this.logits.neg().sigmoid());
  }

  override sample(shape: SampleShape = []): Tensor {
    const sampleShape = shapeOf(this.whereIs("sample"), shape);
    return noGrad(() => {
      const rate = this.logits.neg().exp();
      // Not checked, for the count may be 0.
      const gamma = new Gamma(this.totalCount, rate, { validateArgs: false });
      return poisson(gamma.sample(sampleShape));
    });
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const { totalCount, logits } = this;
    const trials = totalCount.add(value);
    const logNormalizer = value
      .add(1)
      .lgamma()
      .sub(trials.lgamma())
      .add(totalCount.lgamma())
      .maskedFill(trials.eq(0), 0);
    return totalCount
      .mul(logits.neg().logsigmoid())
      .add(value.mul(logits.logsigmoid()))
      .sub(logNormalizer);
  }
}
