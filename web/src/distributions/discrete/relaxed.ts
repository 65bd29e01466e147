// Distributions on the way from continuous to discrete: the lower the temperature, the nearer to 0 and 1.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { fullLike } from "../../generated/ops.js";
import { tensor } from "../../ops/create.js";
import { Tensor } from "../../tensor/tensor.js";
import {
  type GivenProbabilities,
  kProbabilityOptions,
  type Parameter,
  type ProbabilityOptions,
  parameter,
  readProbabilities,
  type SampleShape,
  shapeOfProbabilities,
} from "../base/arguments.js";
import { clampProbs } from "../base/numbers.js";
import { uniformUnit } from "../base/random.js";
import { TransformedDistribution } from "../combined/transformed_distribution.js";
import {
  type Constraint,
  real,
  realVector,
  simplex,
  unitInterval,
} from "../constraints/constraints.js";
import { ExpTransform, SigmoidTransform } from "../transforms/plain.js";
import { BinaryDistribution } from "./binary.js";
import { ClassDistribution, partsOfClasses } from "./classes.js";

const kArguments = { temperature: parameter, ...kProbabilityOptions };

type RelaxedArguments = [
  temperature: Parameter,
  ...rest: Arguments<
    [probs: Parameter | null, logits: Parameter | null, validateArgs: boolean | null],
    ProbabilityOptions
  >,
];

/** The log odds of `RelaxedBernoulli`. */
export class LogitRelaxedBernoulli extends BinaryDistribution<GivenProbabilities> {
  /** 0 for 0 and 1 only, large for the middle. */
  readonly temperature: Tensor;

  constructor(...given: RelaxedArguments) {
    const name = new.target.name;
    const call = readArguments(name, kArguments, given);
    const parameters = readProbabilities(name, call.probs, call.logits);
    const batchShape = shapeOfProbabilities(parameters);
    super({ parameters, batchShape, validateArgs: call.validateArgs });
    this.temperature = temperatureFor(call.temperature, this.given);
  }

  override get support(): Constraint {
    return real;
  }

  override get hasRsample(): boolean {
    return true;
  }

  override rsample(shape: SampleShape = []): Tensor {
    const extended = this.extendedShape("rsample", shape);
    const probs = clampProbs(this.probs.expand(extended));
    const uniforms = clampProbs(uniformUnit(extended, probs));
    return uniforms
      .log()
      .sub(uniforms.neg().log1p())
      .add(probs.log())
      .sub(probs.neg().log1p())
      .div(this.temperature);
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const difference = this.logits.sub(value.mul(this.temperature));
    const tail = difference.exp().log1p().mul(2);
    return this.temperature.log().add(difference).sub(tail);
  }
}

/** Numbers between 0 and 1 in place of `Bernoulli`'s, with gradients through the draws. */
export class RelaxedBernoulli extends TransformedDistribution<LogitRelaxedBernoulli> {
  constructor(...given: RelaxedArguments) {
    const { temperature, ...rest } = readArguments(new.target.name, kArguments, given);
    const base = new LogitRelaxedBernoulli(temperature, rest);
    super(base, new SigmoidTransform(), { validateArgs: rest.validateArgs });
  }

  /** 0 for 0 and 1 only, large for the middle. */
  get temperature(): Tensor {
    return this.baseDist.temperature;
  }

  /** The probabilities of a number near 1. */
  get probs(): Tensor {
    return this.baseDist.probs;
  }

  /** The log odds of a number near 1. */
  get logits(): Tensor {
    return this.baseDist.logits;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { probs: unitInterval, logits: real };
  }

  override get support(): Constraint {
    return unitInterval;
  }
}

/** The logarithms of the values of `RelaxedOneHotCategorical`. */
export class ExpRelaxedCategorical extends ClassDistribution {
  /** 0 for one-hot vectors only, large for the middle of the simplex. */
  readonly temperature: Tensor;

  constructor(...given: RelaxedArguments) {
    const name = new.target.name;
    const { temperature, ...call } = readArguments(name, kArguments, given);
    super(partsOfClasses(name, call));
    this.temperature = temperatureFor(temperature, this.given);
  }

  override get support(): Constraint {
    return realVector;
  }

  override get hasRsample(): boolean {
    return true;
  }

  override rsample(shape: SampleShape = []): Tensor {
    const extended = this.extendedShape("rsample", shape);
    const uniforms = clampProbs(uniformUnit(extended, this.given));
    const gumbels = uniforms.log().neg().log().neg();
    const scores = this.logits.add(gumbels).div(this.temperature);
    return scores.sub(scores.logsumexp(-1, true));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const { temperature, classCount } = this;
    const logScale = fullLike(temperature, classCount)
      .lgamma()
      .add(temperature.log().mul(classCount - 1));
    const score = this.logits.sub(value.mul(temperature));
    return score.sub(score.logsumexp(-1, true)).sum(-1).add(logScale);
  }
}

/** Points of the simplex in place of `OneHotCategorical`'s vectors, with gradients through the draws. */
export class RelaxedOneHotCategorical extends TransformedDistribution<ExpRelaxedCategorical> {
  constructor(...given: RelaxedArguments) {
    const { temperature, ...rest } = readArguments(new.target.name, kArguments, given);
    const base = new ExpRelaxedCategorical(temperature, rest);
    super(base, new ExpTransform(), { validateArgs: rest.validateArgs });
  }

  /** 0 for one-hot vectors only, large for the middle of the simplex. */
  get temperature(): Tensor {
    return this.baseDist.temperature;
  }

  /** The probabilities of the classes. */
  get probs(): Tensor {
    return this.baseDist.probs;
  }

  /** The logarithms of the probabilities of the classes. */
  get logits(): Tensor {
    return this.baseDist.logits;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { probs: simplex, logits: realVector };
  }

  override get support(): Constraint {
    return simplex;
  }
}

function temperatureFor(temperature: Parameter, like: Tensor): Tensor {
  if (temperature instanceof Tensor) return temperature;
  return tensor(temperature, { dtype: like.dtype, device: like.device });
}
