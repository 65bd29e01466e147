// Distributions of trials that succeed with a probability, given as such or as log odds.

import { type Arguments, readArguments } from "../../arguments/read.js";
import type { Options } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { arange, zerosLike } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastAll,
  type GivenProbabilities,
  kProbabilityOptions,
  type Parameter,
  type Probabilities,
  parameter,
  readProbabilities,
  type SampleShape,
  shapeOfProbabilities,
} from "../base/arguments.js";
import { Distribution } from "../base/distribution.js";
import {
  crossEntropyOfBits,
  holdsEverywhere,
  limitsOf,
  logOdds,
  oneMinus,
} from "../base/numbers.js";
import { binomial, uniformBetween } from "../base/random.js";
import {
  boolean,
  type Constraint,
  integerInterval,
  nonnegativeInteger,
  real,
  unitInterval,
} from "../constraints/constraints.js";

const kBinomialArguments = {
  /** The number of trials; default 1. */
  totalCount: parameter.or(1),
  ...kProbabilityOptions,
};

/** Options of `Binomial`. */
export type BinomialOptions = Options<typeof kBinomialArguments>;

/** What distributions of trials have in common. */
export abstract class BinaryDistribution<
  P extends GivenProbabilities = GivenProbabilities,
> extends Distribution<P> {
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

  /** The shape of the parameter that was given. */
  get paramShape(): readonly number[] {
    return this.given.shape;
  }

  /** The tensor that was given, probabilities or log odds. */
  protected get given(): Tensor {
    return (this.parameters.probs ?? this.parameters.logits) as Tensor;
  }

  /** Returns the whole numbers below `count` along a new first dimension. */
  protected enumerated(count: number, expand: boolean): Tensor {
    const { dtype, device } = this.given;
    const values = arange(count, { dtype, device });
    const column = values.view([count, ...this.batchShape.map(() => 1)]);
    return expand ? column.expand([count, ...this.batchShape]) : column;
  }
}

/** Returns a number of trials and probs or logits, whichever was given, as tensors of one shape and dtype. */
export function readCounted(
  where: string,
  count: Parameter,
  probs: Parameter | null,
  logits: Parameter | null,
): GivenProbabilities & Record<"totalCount", Tensor> {
  const chosen = readProbabilities(where, probs, logits);
  const value = (chosen.probs ?? chosen.logits) as Tensor;
  const [counts, expanded] = broadcastAll(where, count, value);
  const totalCount = counts.to(expanded.dtype);
  return chosen.probs ? { totalCount, probs: expanded } : { totalCount, logits: expanded };
}

/** Bernoulli distributions: 1 with the probability `probs`, else 0. */
export class Bernoulli extends BinaryDistribution {
  constructor(...given: Probabilities) {
    const name = new.target.name;
    const { probs, logits, validateArgs } = readArguments(name, kProbabilityOptions, given);
    const parameters = readProbabilities(name, probs, logits);
    super({ parameters, batchShape: shapeOfProbabilities(parameters), validateArgs });
  }

  override get support(): Constraint {
    return boolean;
  }

  override get hasEnumerateSupport(): boolean {
    return true;
  }

  override get mean(): Tensor {
    return this.probs;
  }

  override get mode(): Tensor {
    const { probs } = this;
    return probs.ge(0.5).to(probs.dtype).maskedFill(probs.eq(0.5), Number.NaN);
  }

  override get variance(): Tensor {
    const { probs } = this;
    return probs.mul(oneMinus(probs));
  }

  override sample(shape: SampleShape = []): Tensor {
    const extended = this.extendedShape("sample", shape);
    return noGrad(() => this.probs.expand(extended).bernoulli());
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const [logits, outcome] = broadcastAll(this.whereIs("logProb"), this.logits, value);
    return crossEntropyOfBits(logits, outcome).neg();
  }

  override entropy(): Tensor {
    return crossEntropyOfBits(this.logits, this.probs);
  }

  protected override listSupport(expand: boolean): Tensor {
    return this.enumerated(2, expand);
  }
}

/** Geometric distributions: of the number of failures before the first success. */
export class Geometric extends BinaryDistribution {
  constructor(...given: Probabilities) {
    const name = new.target.name;
    const { probs, logits, validateArgs } = readArguments(name, kProbabilityOptions, given);
    const parameters = readProbabilities(name, probs, logits);
    super({ parameters, batchShape: shapeOfProbabilities(parameters), validateArgs });
    if (!this.validatesArgs || parameters.probs === undefined) return;
    if (holdsEverywhere(() => this.probs.gt(0))) return;
    const told = `Expected parameter probs (a tensor of shape [${this.batchShape}]) of distribution ${this} to be positive but found invalid values:\n${this.probs.detach()}`;
    fail("InvalidArgument", name, told);
  }

  override get support(): Constraint {
    return nonnegativeInteger;
  }

  override get mean(): Tensor {
    return this.probs.reciprocal().sub(1);
  }

  override get mode(): Tensor {
    return zerosLike(this.probs);
  }

  override get variance(): Tensor {
    const { probs } = this;
    return probs.reciprocal().sub(1).div(probs);
  }

  override sample(shape: SampleShape = []): Tensor {
    const extended = this.extendedShape("sample", shape);
    return noGrad(() => {
      const { probs } = this;
      const u = uniformBetween(extended, probs, limitsOf(probs.dtype).tiny, 1);
      return u.log().div(probs.neg().log1p()).floor();
    });
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const { probs } = this;
    // 0 log 0, which is 0, when the first trial succeeds for sure.
    const isCertain = probs.eq(1).logicalAnd(value.eq(0));
    const logFailure = probs.maskedFill(isCertain, 0).neg().log1p();
    return value.mul(logFailure).add(probs.log());
  }

  override entropy(): Tensor {
    const { probs } = this;
    return crossEntropyOfBits(this.logits, probs).div(probs);
  }
}

/** Binomial distributions: of the number of successes in `totalCount` trials. */
export class Binomial extends BinaryDistribution<
  GivenProbabilities & Record<"totalCount", Tensor>
> {
  constructor(
    ...given: Arguments<
      [
        totalCount: Parameter,
        probs: Parameter | null,
        logits: Parameter | null,
        validateArgs: boolean | null,
      ],
      BinomialOptions
    >
  ) {
    const name = new.target.name;
    const call = readArguments(name, kBinomialArguments, given);
    const parameters = readCounted(name, call.totalCount, call.probs, call.logits);
    const batchShape = parameters.totalCount.shape;
    super({ parameters, batchShape, validateArgs: call.validateArgs });
  }

  /** The numbers of trials. */
  get totalCount(): Tensor {
    return this.parameters.totalCount;
  }

  /** What each parameter may be. */
  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { totalCount: nonnegativeInteger, ...super.argConstraints };
  }

  override get support(): Constraint {
    return integerInterval(0, this.totalCount);
  }

  override get hasEnumerateSupport(): boolean {
    return true;
  }

  override get mean(): Tensor {
    return this.totalCount.mul(this.probs);
  }

  override get mode(): Tensor {
    return this.totalCount.add(1).mul(this.probs).floor().clamp(null, this.totalCount);
  }

  override get variance(): Tensor {
    const { probs } = this;
    return this.totalCount.mul(probs).mul(oneMinus(probs));
  }

  override sample(shape: SampleShape = []): Tensor {
    const extended = this.extendedShape("sample", shape);
    return noGrad(() => binomial(this.totalCount.expand(extended), this.probs.expand(extended)));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const { totalCount, logits } = this;
    const logWays = totalCount
      .add(1)
      .lgamma()
      .sub(value.add(1).lgamma())
      .sub(totalCount.sub(value).add(1).lgamma());
    // n log(1 + e^logit), with the gradient 1/2 of the positive part at 0.
    const positivePart = logits.clamp(0).add(logits).sub(logits.clamp(-Infinity, 0)).div(2);
    const logNormalizer = totalCount.mul(positivePart.add(logits.abs().neg().exp().log1p()));
    return value.mul(logits).add(logWays).sub(logNormalizer);
  }

  override entropy(): Tensor {
    const logProb = this.logProb(this.enumerateSupport(false));
    return logProb.exp().mul(logProb).sum(0).neg();
  }

  protected override listSupport(expand: boolean): Tensor {
    const most = scope(() => noGrad(() => this.totalCount.max().item() as number));
    const least = scope(() => noGrad(() => this.totalCount.min().item() as number));
    if (most !== least) this.missing("enumerateSupport", " for total counts that differ");
    return this.enumerated(most + 1, expand);
  }
}
