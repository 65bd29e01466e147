// Distributions over classes, which are the last dimension of the parameters.

import type { Forms } from "../../arguments/read.js";
import { type Options, size } from "../../arguments/rule.js";
import { eye, full, onesLike, zeros } from "../../generated/ops.js";
import { tensor } from "../../ops/create.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { broadcastAll, broadcastShapes, type SampleShape } from "../base/arguments.js";
import type { DeclaredClass } from "../base/declaration.js";
import type { DistributionParts } from "../base/distribution.js";
import { clampProbs, limitsOf, oneMinus } from "../base/numbers.js";
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
import { multinomial } from "../base/random.js";
import type { Constraint } from "../constraints/constraint.js";
import {
  integerInterval,
  multinomial as multinomialCounts,
  oneHot as oneHotVectors,
  realVector,
  simplex,
} from "../constraints/constraints.js";
import { Binomial, enumerated } from "./trials.js";

/** A distribution over classes. */
export abstract class ClassDistribution extends ProbabilityDistribution {
  /** The probabilities of the classes. */
  get probs(): Tensor {
    const { probs, logits } = this.parameters;
    return probs ?? (logits as Tensor).softmax(-1);
  }

  /** The log probabilities of the classes. */
  get logits(): Tensor {
    const { probs, logits } = this.parameters;
    return logits ?? clampProbs(probs as Tensor).log();
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { probs: simplex, logits: realVector };
  }

  /** The number of classes. @internal */
  get classCount(): number {
    return this.given.shape.at(-1) as number;
  }
}

interface ClassesDeclaration<Self> extends ProbabilityDeclaration<Self> {
  /** Whether a value is the index of a class, not a vector. */
  hasNumbers?: boolean;
}

/** Returns the base class of a declared distribution over classes; the types are those of its constructor's arguments and fields. */
export function classes<G extends unknown[] = Probabilities, Fields = unknown>(
  declaration: ClassesDeclaration<ClassDistribution & Fields>,
): DeclaredClass<G, ClassDistribution & Fields> {
  const read = declaration.hasNumbers ? partsOfNumbers : partsOfVectors;
  return withProbabilities(ClassDistribution, read, declaration) as never;
}

function partsOfNumbers(
  where: string,
  call: ReadProbabilities,
): DistributionParts<GivenProbabilities> {
  return { ...partsOfVectors(where, call), eventShape: [] };
}

// Normalizes the parameters.
function partsOfVectors(
  where: string,
  call: ReadProbabilities,
): DistributionParts<GivenProbabilities> {
  const { probs, logits } = readProbabilities(where, call);
  const { shape } = givenOf({ probs, logits });
  if (shape.length === 0) {
    const message = `${probs ? "probs" : "logits"}: expected at least one dimension, got none.`;
    fail("ShapeMismatch", where, message);
  }
  const parameters = probs
    ? { probs: probs.div(probs.sum(-1, true)) }
    : { logits: (logits as Tensor).sub((logits as Tensor).logsumexp(-1, true)) };
  const shapes = { batchShape: shape.slice(0, -1), eventShape: shape.slice(-1) };
  return { parameters, ...shapes, validateArgs: call.validateArgs };
}

/** Draws class indices of the sample shape followed by the batch shape. */
export function drawIndices(self: ClassDistribution, sampleShape: readonly number[]): Tensor {
  const rows = self.probs.reshape([-1, self.classCount]);
  const count = sampleShape.reduce((product, size) => product * size, 1);
  return multinomial(rows, count, true)
    .t()
    .reshape([...sampleShape, ...self.batchShape]);
}

/** Returns the log probabilities of class indices. */
export function logProbOfIndices(where: string, logits: Tensor, indices: Tensor): Tensor {
  const places = indices.to("int64").unsqueeze(-1);
  const shape = broadcastShapes(where, places.shape, logits.shape);
  const column = places.expand([...shape.slice(0, -1), 1]);
  return logits.expand(shape).gather(-1, column).squeeze(-1);
}

/** Returns the entropy of a single draw. */
export function entropyOfClasses({ logits, probs }: ClassDistribution): Tensor {
  const finite = logits.clamp(limitsOf(logits.dtype).min);
  return finite.mul(probs).sum(-1).neg();
}

/** Distribution of class indices with the given probabilities. */
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
  sample: (self, _shape, sampleShape) => drawIndices(self, sampleShape),
  logProb: ({ logits }, value, where) => logProbOfIndices(where, logits, value),
  entropy: entropyOfClasses,
}) {}

/** Distribution of one-hot vectors with the given probabilities of the classes. */
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
  sample(self, _shape, sampleShape) {
    return drawIndices(self, sampleShape).oneHot(self.classCount).to(self.given.dtype);
  },
  logProb: ({ logits }, value, where) => logProbOfIndices(where, logits, value.argmax(-1)),
  entropy: entropyOfClasses,
}) {}

/** Like `OneHotCategorical`, with the straight-through estimator: the gradient of a sample is that of the probabilities. */
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

type MultinomialArguments = Forms<
  [totalCount: number, ...rest: PositionalProbabilities],
  MultinomialOptions
>;

interface TotalCount {
  /** The number of draws. */
  readonly totalCount: number;
}

/** Distribution of the counts of the classes in `totalCount` draws. */
export class Multinomial extends classes<MultinomialArguments, TotalCount>({
  arguments: { ...kMultinomialOptions, ...kProbabilityOptions },
  fields: ({ totalCount }: TotalCount) => ({ totalCount }),
  support: ({ totalCount }) => multinomialCounts(totalCount),
  mean: ({ probs, totalCount }) => probs.mul(totalCount),
  variance: ({ probs, totalCount }) => probs.mul(totalCount).mul(oneMinus(probs)),
  sample(self, shape, sampleShape) {
    const { dtype, device } = self.given;
    const indices = drawIndices(self, [self.totalCount, ...sampleShape]).movedim(0, -1);
    const ones = onesLike(indices, { dtype });
    return zeros(shape, { dtype, device }).scatterAdd(-1, indices, ones);
  },
  logProb(self, value, where) {
    const [logits, counts] = broadcastAll(where, self.logits, value);
    const isNever = counts.eq(0).logicalAnd(logits.eq(Number.NEGATIVE_INFINITY));
    const logPowers = logits.maskedFill(isNever, 0).mul(counts).sum(-1);
    const logWays = counts.sum(-1).add(1).lgamma().sub(counts.add(1).lgamma().sum(-1));
    return logWays.add(logPowers);
  },
  entropy(self) {
    const { totalCount: n, probs } = self;
    const counts = new Binomial(n, { probs, validateArgs: false });
    const support = counts.enumerateSupport(false).narrow(0, 1, n);
    const expected = counts.logProb(support).exp().mul(support.add(1).lgamma()).sum([0, -1]);
    const logWays = tensor(n + 1)
      .lgamma()
      .to(self.given.device);
    return entropyOfClasses(self).mul(n).sub(logWays).add(expected);
  },
}) {}
