// Continuous relaxations of discrete distributions: the lower the temperature, the closer the samples are to discrete ones.

import { readArguments } from "../../arguments/read.js";
import { fullLike } from "../../generated/ops.js";
import { tensor } from "../../ops/create.js";
import { Tensor } from "../../tensor/tensor.js";
import { type Parameter, parameter } from "../base/arguments.js";
import {
  type Constraints,
  type DeclaredClass,
  type Named,
  withFormulas,
} from "../base/declaration.js";
import type { Distribution } from "../base/distribution.js";
import { clampProbs } from "../base/numbers.js";
import {
  kProbabilityOptions,
  type Probabilities,
  type ProbabilityOptions,
} from "../base/probabilities.js";
import { uniformUnit } from "../base/random.js";
import { TransformedDistribution } from "../combined/transformed_distribution.js";
import type { Constraint } from "../constraints/constraint.js";
import { real, realVector, simplex, unitInterval } from "../constraints/constraints.js";
import { ExpTransform, SigmoidTransform } from "../transforms/plain.js";
import type { Transform } from "../transforms/transform.js";
import { classes } from "./categorical.js";
import { trials } from "./trials.js";

const kArguments = { temperature: parameter, ...kProbabilityOptions };

type RelaxedArguments = [temperature: Parameter, ...rest: Probabilities];

interface NumberTemperature {
  /** The temperature: near 0, samples are close to 0 or 1; the larger, the closer to the middle. */
  readonly temperature: Tensor;
}

interface VectorTemperature {
  /** The temperature: near 0, samples are close to one-hot; the larger, the closer to the middle of the simplex. */
  readonly temperature: Tensor;
}

/** Distribution of the log odds of `RelaxedBernoulli` samples. */
export class LogitRelaxedBernoulli extends trials<RelaxedArguments, NumberTemperature>({
  arguments: kArguments,
  fields: withTemperature,
  support: real,
  rsample(self, shape) {
    const probs = clampProbs(self.probs.expand(shape));
    const uniforms = clampProbs(uniformUnit(shape, probs));
    const logOdds = uniforms.log().sub(uniforms.neg().log1p()).add(probs.log());
    return logOdds.sub(probs.neg().log1p()).div(self.temperature);
  },
  logProb({ logits, temperature }, value) {
    const difference = logits.sub(value.mul(temperature));
    return temperature.log().add(difference).sub(difference.exp().log1p().mul(2));
  },
}) {}

/** Distribution of the logarithms of `RelaxedOneHotCategorical` samples. */
export class ExpRelaxedCategorical extends classes<RelaxedArguments, VectorTemperature>({
  arguments: kArguments,
  fields: withTemperature,
  support: realVector,
  rsample({ given, logits, temperature }, shape) {
    const uniforms = clampProbs(uniformUnit(shape, given));
    const gumbels = uniforms.log().neg().log().neg();
    const scores = logits.add(gumbels).div(temperature);
    return scores.sub(scores.logsumexp(-1, true));
  },
  logProb({ classCount, logits, temperature }, value) {
    const logCount = fullLike(temperature, classCount).lgamma();
    const logScale = logCount.add(temperature.log().mul(classCount - 1));
    const score = logits.sub(value.mul(temperature));
    return score.sub(score.logsumexp(-1, true)).sum(-1).add(logScale);
  },
}) {}

function withTemperature({ temperature }: { temperature: Parameter }, given: Tensor): object {
  if (temperature instanceof Tensor) return { temperature };
  return { temperature: tensor(temperature, { dtype: given.dtype, device: given.device }) };
}

interface RelaxedDeclaration<Base, C> {
  /** The class of the distribution before the transform. */
  base: new (
    temperature: Parameter,
    options?: ProbabilityOptions,
  ) => Base;
  transform: () => Transform;
  parameters: C;
  support: Constraint;
}

// Returns the base class of a relaxed distribution that is a transform of another one.
function relaxed<Base extends Distribution, C extends Constraints>(
  declaration: RelaxedDeclaration<Base, C>,
): DeclaredClass<RelaxedArguments, TransformedDistribution<Base> & Named<C>> {
  class Relaxed extends TransformedDistribution<Base> {
    constructor(...given: RelaxedArguments) {
      const { temperature, ...rest } = readArguments(new.target.name, kArguments, given);
      const base = new declaration.base(temperature, rest);
      super(base, declaration.transform(), { validateArgs: rest.validateArgs });
    }
  }
  const { parameters, support } = declaration;
  const parameter = ({ baseDist }: TransformedDistribution, name: never) => baseDist[name];
  return withFormulas({ base: Relaxed, parameters, parameter, support }) as never;
}

/** Relaxed `Bernoulli`: samples are numbers between 0 and 1 and are differentiable. */
export class RelaxedBernoulli extends relaxed({
  base: LogitRelaxedBernoulli,
  transform: () => new SigmoidTransform(),
  parameters: {
    /** The probabilities of samples close to 1. */
    probs: unitInterval,
    /** The log odds of samples close to 1. */
    logits: real,
  },
  support: unitInterval,
}) {
  /** The temperature: near 0, samples are close to 0 or 1; the larger, the closer to the middle. */
  get temperature(): Tensor {
    return this.baseDist.temperature;
  }
}

/** Relaxed `OneHotCategorical`: samples are points of the simplex and are differentiable. */
export class RelaxedOneHotCategorical extends relaxed({
  base: ExpRelaxedCategorical,
  transform: () => new ExpTransform(),
  parameters: {
    /** The probabilities of the classes. */
    probs: simplex,
    /** The log probabilities of the classes. */
    logits: realVector,
  },
  support: simplex,
}) {
  /** The temperature: near 0, samples are close to one-hot; the larger, the closer to the middle of the simplex. */
  get temperature(): Tensor {
    return this.baseDist.temperature;
  }
}
