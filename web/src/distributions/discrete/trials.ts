// Distributions of binary trials, parameterized by the probability or the log odds of success, and of unbounded counts.

import type { Forms } from "../../arguments/read.js";
import type { Options } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { arange, zerosLike } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { broadcastAll, type Parameter, parameter } from "../base/arguments.js";
import { type DeclaredClass, distribution, type Given } from "../base/declaration.js";
import type { DistributionParts } from "../base/distribution.js";
import {
  crossEntropyOfBits,
  holdsEverywhere,
  limitsOf,
  logOdds,
  oneMinus,
} from "../base/numbers.js";
import {
  type GivenProbabilities,
  givenOf,
  kProbabilityOptions,
  type PositionalProbabilities,
  type Probabilities,
  type ProbabilityDeclaration,
  ProbabilityDistribution,
  type ProbabilityOptions,
  type ReadProbabilities,
  readProbabilities,
  withProbabilities,
} from "../base/probabilities.js";
import { binomial, poisson, uniformBetween } from "../base/random.js";
import type { Constraint } from "../constraints/constraint.js";
import {
  boolean,
  greaterThanEq,
  halfOpenInterval,
  integerInterval,
  nonnegative,
  nonnegativeInteger,
  real,
  unitInterval,
} from "../constraints/constraints.js";
import { Gamma } from "../continuous/gamma.js";

/** A distribution of binary trials. */
export abstract class BinaryDistribution<
  P extends GivenProbabilities = GivenProbabilities,
> extends ProbabilityDistribution<P> {
  /** The probabilities of success. */
  get probs(): Tensor {
    const { probs, logits } = this.parameters;
    return probs ?? (logits as Tensor).sigmoid();
  }

  /** The log odds of success. */
  get logits(): Tensor {
    const { probs, logits } = this.parameters;
    return logits ?? logOdds(probs as Tensor);
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { probs: unitInterval, logits: real };
  }
}

/** Returns the base class of a declared distribution of trials; the types are those of its constructor's arguments and fields. */
export function trials<G extends unknown[] = Probabilities, Fields = unknown>(
  declaration: ProbabilityDeclaration<BinaryDistribution & Fields>,
): DeclaredClass<G, BinaryDistribution & Fields> {
  return withProbabilities(BinaryDistribution, partsOfTrials, declaration) as never;
}

interface Counted extends ReadProbabilities {
  readonly totalCount?: Parameter;
}

function partsOfTrials(where: string, call: Counted): DistributionParts<GivenProbabilities> {
  const { totalCount, validateArgs } = call;
  const chosen = readProbabilities(where, call);
  const parameters = totalCount === undefined ? chosen : counted(where, totalCount, chosen);
  return { parameters, batchShape: givenOf(parameters).shape, validateArgs };
}

// Returns the number of trials and probs or logits, whichever was given, as tensors of one shape and dtype.
function counted(
  where: string,
  count: Parameter,
  chosen: GivenProbabilities,
): GivenProbabilities & Record<"totalCount", Tensor> {
  const [counts, expanded] = broadcastAll(where, count, givenOf(chosen));
  const totalCount = counts.to(expanded.dtype);
  return chosen.probs ? { totalCount, probs: expanded } : { totalCount, logits: expanded };
}

/** Returns the integers below `count` along a new first dimension, with the dtype and device of `like`. */
export function enumerated(
  count: number,
  batchShape: readonly number[],
  expand: boolean,
  like: Pick<Tensor, "dtype" | "device">,
): Tensor {
  const { dtype, device } = like;
  const column = arange(count, { dtype, device }).view([count, ...batchShape.map(() => 1)]);
  return expand ? column.expand([count, ...batchShape]) : column;
}

/** Bernoulli distribution: 1 with probability `probs`, else 0. */
export class Bernoulli extends trials({
  support: boolean,
  values: ({ batchShape, given }, expand) => enumerated(2, batchShape, expand, given),
  mean: ({ probs }) => probs,
  mode: ({ probs }) => probs.ge(0.5).to(probs.dtype).maskedFill(probs.eq(0.5), Number.NaN),
  variance: ({ probs }) => probs.mul(oneMinus(probs)),
  sample: ({ probs }, shape) => probs.expand(shape).bernoulli(),
  logProb(self, value, where) {
    const [logits, outcome] = broadcastAll(where, self.logits, value);
    return crossEntropyOfBits(logits, outcome).neg();
  },
  entropy: ({ logits, probs }) => crossEntropyOfBits(logits, probs),
}) {}

/** Geometric distribution of the number of failures before the first success. */
export class Geometric extends trials({
  refuse(self) {
    const { given, probs } = self;
    if (given !== probs || holdsEverywhere(() => probs.gt(0))) return;
    return `probs: expected positive probabilities in ${self}, got shape [${probs.shape}]:\n${probs.detach()}`;
  },
  support: nonnegativeInteger,
  mean: ({ probs }) => probs.reciprocal().sub(1),
  mode: ({ probs }) => zerosLike(probs),
  variance: ({ probs }) => probs.reciprocal().sub(1).div(probs),
  sample({ probs }, shape) {
    const u = uniformBetween(shape, probs, limitsOf(probs.dtype).tiny, 1);
    return u.log().div(probs.neg().log1p()).floor();
  },
  logProb({ probs }, value) {
    // If success is certain, the probability of 0 failures is 1: avoid 0 * log(0).
    const isCertain = probs.eq(1).logicalAnd(value.eq(0));
    const logFailure = probs.maskedFill(isCertain, 0).neg().log1p();
    return value.mul(logFailure).add(probs.log());
  },
  entropy: ({ logits, probs }) => crossEntropyOfBits(logits, probs).div(probs),
}) {}

const kBinomialOptions = {
  /** The number of trials; default 1. */
  totalCount: parameter.or(1),
};

/** Options of `Binomial`. */
export interface BinomialOptions extends ProbabilityOptions, Options<typeof kBinomialOptions> {}

type BinomialArguments = Forms<
  [totalCount: Parameter, ...rest: PositionalProbabilities],
  BinomialOptions
>;

interface TotalCounts {
  /** The number of trials. */
  readonly totalCount: Tensor;
}

/** Binomial distribution of the number of successes in `totalCount` trials. */
export class Binomial extends trials<BinomialArguments, TotalCounts>({
  arguments: { ...kBinomialOptions, ...kProbabilityOptions },
  parameters: { totalCount: nonnegativeInteger },
  support: ({ totalCount }) => integerInterval(0, totalCount),
  values(self, expand) {
    const { totalCount, batchShape, given } = self;
    const [most, least] = scope(() =>
      noGrad(() => [totalCount.max().item(), totalCount.min().item()]),
    );
    if (most === least) return enumerated((most as number) + 1, batchShape, expand, given);
    const { name } = self.constructor;
    const message = `${name} does not implement enumerateSupport for total counts that differ.`;
    return fail("InvalidArgument", `${name}.enumerateSupport`, message);
  },
  mean: ({ totalCount, probs }) => totalCount.mul(probs),
  mode: ({ totalCount, probs }) => totalCount.add(1).mul(probs).floor().clamp(null, totalCount),
  variance: ({ totalCount, probs }) => totalCount.mul(probs).mul(oneMinus(probs)),
  sample: ({ totalCount, probs }, shape) => binomial(totalCount.expand(shape), probs.expand(shape)),
  logProb({ totalCount, logits }, value) {
    const ofFailures = totalCount.sub(value).add(1).lgamma();
    const logWays = totalCount.add(1).lgamma().sub(value.add(1).lgamma()).sub(ofFailures);
    // n log(1 + exp(logit)), where the gradient of the positive part at 0 is 1/2.
    const positivePart = logits.clamp(0).add(logits).sub(logits.clamp(-Infinity, 0)).div(2);
    const logNormalizer = totalCount.mul(positivePart.add(logits.abs().neg().exp().log1p()));
    return value.mul(logits).add(logWays).sub(logNormalizer);
  },
  entropy(self) {
    const logProb = self.logProb(self.enumerateSupport(false));
    return logProb.exp().mul(logProb).sum(0).neg();
  },
}) {}

/** Poisson distribution of the number of events when `rate` are expected. */
export class Poisson extends distribution({
  given: {} as Given<[rate: Parameter]>,
  parameters: {
    /** The expected number of events. */
    rate: nonnegative,
  },
  support: nonnegativeInteger,
  mean: ({ rate }) => rate,
  mode: ({ rate }) => rate.floor(),
  variance: ({ rate }) => rate,
  sample: ({ rate }, shape) => poisson(rate.expand(shape)),
  logProb: ({ rate }, value) => value.xlogy(rate).sub(rate).sub(value.add(1).lgamma()),
}) {}

type NegativeArguments = [totalCount: Parameter, ...rest: Probabilities];

interface FailureCounts {
  /** The number of failures; it need not be an integer. */
  readonly totalCount: Tensor;
}

/** Negative binomial distribution of the number of successes before `totalCount` failures. */
export class NegativeBinomial extends trials<NegativeArguments, FailureCounts>({
  arguments: { totalCount: parameter, ...kProbabilityOptions },
  parameters: { totalCount: () => greaterThanEq(0) },
  support: nonnegativeInteger,
  mean: ({ totalCount, logits }) => totalCount.mul(logits.exp()),
  mode: ({ totalCount, logits }) => totalCount.sub(1).mul(logits.exp()).floor().clamp(0),
  variance: ({ mean, logits }) => mean.div(logits.neg().sigmoid()),
  sample({ totalCount, logits }, _shape, sampleShape) {
    // Not validated, because the count may be 0.
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
  /** The constraint of each parameter. */
  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { ...super.argConstraints, probs: halfOpenInterval(0, 1) };
  }
}
