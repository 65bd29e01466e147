// Distributions over classes.

import type { Arguments } from "../../arguments/read.js";
import { type Options, size } from "../../arguments/rule.js";
import { eye, full, onesLike, zeros } from "../../generated/ops.js";
import { tensor } from "../../ops/create.js";
import type { Tensor } from "../../tensor/tensor.js";
import { broadcastAll, type Parameter, type SampleShape } from "../base/arguments.js";
import { oneMinus } from "../base/numbers.js";
import { kProbabilityOptions, type ProbabilityOptions } from "../base/probabilities.js";
import {
  integerInterval,
  multinomial as multinomialCounts,
  oneHot as oneHotVectors,
} from "../constraints/constraints.js";
import { classes, drawIndices, entropyOfClasses, logProbOfIndices } from "./classes.js";
import { Binomial, enumerated } from "./trials.js";

/** Distributions of class numbers with given probabilities. */
export class Categorical extends classes({
  hasNumbers: true,
  support: ({ classCount }) => integerInterval(0, classCount - 1),
  values({ batchShape, classCount, given }, expand) {
    return enumerated(classCount, batchShape, expand, { dtype: "int64", device: given.device });
  },
  mean({ batchShape, given: { dtype, device } }) {
    return full(batchShape, Number.NaN, { dtype, device });
  },
  mode: ({ probs }) => probs.argmax(-1),
  variance: ({ mean }) => mean,
  sample: (it, _shape, sampleShape) => drawIndices(it, sampleShape),
  logProb: ({ logits }, value, where) => logProbOfIndices(where, logits, value),
  entropy: entropyOfClasses,
}) {}

/** Distributions of vectors that are 1 in the place of a class and 0 elsewhere. */
export class OneHotCategorical extends classes({
  support: oneHotVectors,
  values({ batchShape, classCount, given: { dtype, device } }, expand) {
    const values = eye(classCount, { dtype, device });
    const column = values.view([classCount, ...batchShape.map(() => 1), classCount]);
    return expand ? column.expand([classCount, ...batchShape, classCount]) : column;
  },
  mean: ({ probs }) => probs,
  mode: ({ probs, classCount, given }) => probs.argmax(-1).oneHot(classCount).to(given.dtype),
  variance: ({ probs }) => probs.mul(oneMinus(probs)),
  sample(it, _shape, sampleShape) {
    return drawIndices(it, sampleShape).oneHot(it.classCount).to(it.given.dtype);
  },
  logProb: ({ logits }, value, where) => logProbOfIndices(where, logits, value.argmax(-1)),
  entropy: entropyOfClasses,
}) {}

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

const kMultinomialOptions = {
  /** The number of draws; default 1. */
  totalCount: size.or(1),
};

/** Options of `Multinomial`. */
export interface MultinomialOptions
  extends ProbabilityOptions,
    Options<typeof kMultinomialOptions> {}

type MultinomialArguments = Arguments<
  [
    totalCount: number,
    probs: Parameter | null,
    logits: Parameter | null,
    validateArgs: boolean | null,
  ],
  MultinomialOptions
>;

interface TotalCount {
  /** The number of draws. */
  readonly totalCount: number;
}

/** Distributions of how often each class comes in `totalCount` draws. */
export class Multinomial extends classes<MultinomialArguments, TotalCount>({
  arguments: { ...kMultinomialOptions, ...kProbabilityOptions },
  fields: ({ totalCount }: TotalCount) => ({ totalCount }),
  support: ({ totalCount }) => multinomialCounts(totalCount),
  mean: ({ probs, totalCount }) => probs.mul(totalCount),
  variance: ({ probs, totalCount }) => probs.mul(totalCount).mul(oneMinus(probs)),
  sample(it, shape, sampleShape) {
    const { dtype, device } = it.given;
    const indices = drawIndices(it, [it.totalCount, ...sampleShape]).movedim(0, -1);
    const ones = onesLike(indices, { dtype });
    return zeros(shape, { dtype, device }).scatterAdd(-1, indices, ones);
  },
  logProb(it, value, where) {
    const [logits, counts] = broadcastAll(where, it.logits, value);
    const isNever = counts.eq(0).logicalAnd(logits.eq(Number.NEGATIVE_INFINITY));
    const logPowers = logits.maskedFill(isNever, 0).mul(counts).sum(-1);
    const logWays = counts.sum(-1).add(1).lgamma().sub(counts.add(1).lgamma().sum(-1));
    return logWays.add(logPowers);
  },
  entropy(it) {
    const { totalCount: n, probs } = it;
    const counts = new Binomial(n, { probs, validateArgs: false });
    const support = counts.enumerateSupport(false).narrow(0, 1, n);
    const expected = counts.logProb(support).exp().mul(support.add(1).lgamma()).sum([0, -1]);
    const logWays = tensor(n + 1)
      .lgamma()
      .to(it.given.device);
    return entropyOfClasses(it).mul(n).sub(logWays).add(expected);
  },
}) {}
