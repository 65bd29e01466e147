// Distributions over classes.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { type Options, size } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { arange, eye, full, onesLike, zeros } from "../../generated/ops.js";
import { tensor } from "../../ops/create.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastAll,
  kProbabilityOptions,
  type Parameter,
  type Probabilities,
  type SampleShape,
  shapeOf,
} from "../base/arguments.js";
import { oneMinus } from "../base/numbers.js";
import {
  type Constraint,
  integerInterval,
  multinomial as multinomialCounts,
  oneHot as oneHotVectors,
} from "../constraints/constraints.js";
import { Binomial } from "./binary.js";
import { ClassDistribution, partsOfClasses } from "./classes.js";

const kMultinomialArguments = {
  /** The number of draws; default 1. */
  totalCount: size.or(1),
  ...kProbabilityOptions,
};

/** Options of `Multinomial`. */
export type MultinomialOptions = Options<typeof kMultinomialArguments>;

/** Distributions of class numbers with given probabilities. */
export class Categorical extends ClassDistribution {
  constructor(...given: Probabilities) {
    const name = new.target.name;
    const call = readArguments(name, kProbabilityOptions, given);
    super({ ...partsOfClasses(name, call), eventShape: [] });
  }

  override get support(): Constraint {
    return integerInterval(0, this.classCount - 1);
  }

  override get hasEnumerateSupport(): boolean {
    return true;
  }

  override get mean(): Tensor {
    const { dtype, device } = this.given;
    return full(this.batchShape, Number.NaN, { dtype, device });
  }

  override get mode(): Tensor {
    return this.probs.argmax(-1);
  }

  override get variance(): Tensor {
    return this.mean;
  }

  override sample(shape: SampleShape = []): Tensor {
    return noGrad(() => this.drawIndices(shapeOf(this.whereIs("sample"), shape)));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    return this.logProbOfIndices(value);
  }

  override entropy(): Tensor {
    return this.entropyOfClasses();
  }

  protected override listSupport(expand: boolean): Tensor {
    const count = this.classCount;
    const values = arange(count, { dtype: "int64", device: this.given.device });
    const column = values.view([count, ...this.batchShape.map(() => 1)]);
    return expand ? column.expand([count, ...this.batchShape]) : column;
  }
}

/** Distributions of vectors that are 1 in the place of a class and 0 elsewhere. */
export class OneHotCategorical extends ClassDistribution {
  constructor(...given: Probabilities) {
    const name = new.target.name;
    super(partsOfClasses(name, readArguments(name, kProbabilityOptions, given)));
  }

  override get support(): Constraint {
    return oneHotVectors;
  }

  override get hasEnumerateSupport(): boolean {
    return true;
  }

  override get mean(): Tensor {
    return this.probs;
  }

  override get mode(): Tensor {
    return this.probs.argmax(-1).oneHot(this.classCount).to(this.given.dtype);
  }

  override get variance(): Tensor {
    const { probs } = this;
    return probs.mul(oneMinus(probs));
  }

  override sample(shape: SampleShape = []): Tensor {
    const sampleShape = shapeOf(this.whereIs("sample"), shape);
    return noGrad(() => this.drawIndices(sampleShape).oneHot(this.classCount).to(this.given.dtype));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    return this.logProbOfIndices(value.argmax(-1));
  }

  override entropy(): Tensor {
    return this.entropyOfClasses();
  }

  protected override listSupport(expand: boolean): Tensor {
    const count = this.classCount;
    const { dtype, device } = this.given;
    const values = eye(count, { dtype, device });
    const column = values.view([count, ...this.batchShape.map(() => 1), count]);
    return expand ? column.expand([count, ...this.batchShape, count]) : column;
  }
}

/** Like `OneHotCategorical`, but the gradient of a draw is that of the probabilities. */
export class OneHotCategoricalStraightThrough extends OneHotCategorical {
  override get hasRsample(): boolean {
    return true;
  }

  override rsample(shape: SampleShape = []): Tensor {
    const { probs } = this;
    return this.sample(shape).add(probs.sub(probs.detach()));
  }
}

/** Distributions of how often each class comes in `totalCount` draws. */
export class Multinomial extends ClassDistribution {
  /** The number of draws. */
  readonly totalCount: number;

  constructor(
    ...given: Arguments<
      [
        totalCount: number,
        probs: Parameter | null,
        logits: Parameter | null,
        validateArgs: boolean | null,
      ],
      MultinomialOptions
    >
  ) {
    const name = new.target.name;
    const { totalCount, ...call } = readArguments(name, kMultinomialArguments, given);
    super(partsOfClasses(name, call));
    this.totalCount = totalCount;
  }

  override get support(): Constraint {
    return multinomialCounts(this.totalCount);
  }

  override get mean(): Tensor {
    return this.probs.mul(this.totalCount);
  }

  override get variance(): Tensor {
    const { probs } = this;
    return probs.mul(this.totalCount).mul(oneMinus(probs));
  }

  override sample(shape: SampleShape = []): Tensor {
    const extended = this.extendedShape("sample", shape);
    const sampleShape = extended.slice(0, extended.length - this.batchShape.length - 1);
    const { dtype, device } = this.given;
    return noGrad(() => {
      const indices = this.drawIndices([this.totalCount, ...sampleShape]).movedim(0, -1);
      const ones = onesLike(indices, { dtype });
      return zeros(extended, { dtype, device }).scatterAdd(-1, indices, ones);
    });
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const [logits, counts] = broadcastAll(this.whereIs("logProb"), this.logits, value);
    const isNever = counts.eq(0).logicalAnd(logits.eq(Number.NEGATIVE_INFINITY));
    const logPowers = logits.maskedFill(isNever, 0).mul(counts).sum(-1);
    const logWays = counts.sum(-1).add(1).lgamma().sub(counts.add(1).lgamma().sum(-1));
    return logWays.add(logPowers);
  }

  override entropy(): Tensor {
    const { totalCount: n, probs } = this;
    const counts = new Binomial(n, { probs, validateArgs: false });
    const support = counts.enumerateSupport(false).narrow(0, 1, n);
    const expected = counts.logProb(support).exp().mul(support.add(1).lgamma()).sum([0, -1]);
    const logWays = tensor(n + 1)
      .lgamma()
      .to(this.given.device);
    return this.entropyOfClasses().mul(n).sub(logWays).add(expected);
  }
}
