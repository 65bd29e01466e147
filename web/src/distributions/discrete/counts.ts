// Distributions of counts without an upper bound.

import type { Tensor } from "../../tensor/tensor.js";
import { type Parameter, parameter } from "../base/arguments.js";
import { distribution, type Given } from "../base/declaration.js";
import { kProbabilityOptions, type Probabilities } from "../base/probabilities.js";
import { poisson } from "../base/random.js";
import type { Constraint } from "../constraints/constraint.js";
import {
  greaterThanEq,
  halfOpenInterval,
  nonnegative,
  nonnegativeInteger,
} from "../constraints/constraints.js";
import { Gamma } from "../continuous/gamma.js";
import { trials } from "./trials.js";

/** Poisson distributions: of the number of events, `rate` on average. */
export class Poisson extends distribution({
  given: {} as Given<[rate: Parameter]>,
  parameters: {
    /** The mean number of events. */
    rate: nonnegative,
  },
  support: nonnegativeInteger,
  mean: ({ rate }) => rate,
  mode: ({ rate }) => rate.floor(),
  variance: ({ rate }) => rate,
  sample: ({ rate }, shape) => poisson(rate.expand(shape)),
  logProb: ({ rate }, value) => value.xlogy(rate).sub(rate).sub(value.add(1).lgamma()),
}) {}

const kNegativeArguments = { totalCount: parameter, ...kProbabilityOptions };

type NegativeArguments = [totalCount: Parameter, ...rest: Probabilities];

interface FailureCounts {
  /** The number of failures, whole or not. */
  readonly totalCount: Tensor;
}

/** Negative binomial distributions: of the number of successes before `totalCount` failures. */
export class NegativeBinomial extends trials<NegativeArguments, FailureCounts>({
  arguments: kNegativeArguments,
  parameters: { totalCount: () => greaterThanEq(0) },
  support: nonnegativeInteger,
  mean: ({ totalCount, logits }) => totalCount.mul(logits.exp()),
  mode: ({ totalCount, logits }) => totalCount.sub(1).mul(logits.exp()).floor().clamp(0),
  variance: ({ mean, logits }) => mean.div(logits.neg().sigmoid()),
  sample({ totalCount, logits }, _shape, sampleShape) {
    // Not checked, for the count may be 0.
    const gamma = new Gamma(totalCount, logits.neg().exp(), { validateArgs: false });
    return poisson(gamma.sample(sampleShape));
  },
  logProb({ totalCount, logits }, value) {
    const trials = totalCount.add(value);
    const logBeta = value.add(1).lgamma().sub(trials.lgamma()).add(totalCount.lgamma());
    const logNormalizer = logBeta.maskedFill(trials.eq(0), 0);
    const logPowers = totalCount.mul(logits.neg().logsigmoid()).add(value.mul(logits.logsigmoid()));
    return logPowers.sub(logNormalizer);
  },
}) {
  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { ...super.argConstraints, probs: halfOpenInterval(0, 1) };
  }
}
