// What distributions over classes, the last dimension of their parameters, have in common.

import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { broadcastShapes } from "../base/arguments.js";
import type { DeclaredClass } from "../base/declaration.js";
import type { DistributionParts } from "../base/distribution.js";
import { clampProbs, limitsOf } from "../base/numbers.js";
import {
  type GivenProbabilities,
  givenOf,
  type Probabilities,
  type ProbabilityDeclaration,
  ProbabilityDistribution,
  type ReadProbabilities,
  readProbabilities,
  withProbabilities,
} from "../base/probabilities.js";
import { multinomial } from "../base/random.js";
import type { Constraint } from "../constraints/constraint.js";
import { realVector, simplex } from "../constraints/constraints.js";

/** A distribution over classes. */
export abstract class ClassDistribution extends ProbabilityDistribution {
  /** The probabilities of the classes. */
  get probs(): Tensor {
    const { probs, logits } = this.parameters;
    return probs ?? (logits as Tensor).softmax(-1);
  }

  /** The logarithms of the probabilities of the classes. */
  get logits(): Tensor {
    const { probs, logits } = this.parameters;
    return logits ?? clampProbs(probs as Tensor).log();
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { probs: simplex, logits: realVector };
  }

  /** How many classes there are. @internal */
  get classCount(): number {
    return this.given.shape.at(-1) as number;
  }
}

interface ClassesDeclaration<Self> extends ProbabilityDeclaration<Self> {
  /** Whether a value is the number of a class, not a vector. */
  hasNumbers?: boolean;
}

/** Returns what a class of distributions over classes extends: the types are those of its constructor's arguments and of its fields. */
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

// The parameters are normalized.
function partsOfVectors(
  where: string,
  call: ReadProbabilities,
): DistributionParts<GivenProbabilities> {
  const { probs, logits } = readProbabilities(where, call);
  const { shape } = givenOf({ probs, logits });
  if (shape.length === 0) {
    const told = `\`${probs ? "probs" : "logits"}\` parameter must be at least one-dimensional.`;
    fail("ShapeMismatch", where, told);
  }
  const parameters = probs
    ? { probs: probs.div(probs.sum(-1, true)) }
    : { logits: (logits as Tensor).sub((logits as Tensor).logsumexp(-1, true)) };
  const shapes = { batchShape: shape.slice(0, -1), eventShape: shape.slice(-1) };
  return { parameters, ...shapes, validateArgs: call.validateArgs };
}

/** Draws class numbers in the shape of the samples and the batch. */
export function drawIndices(it: ClassDistribution, sampleShape: readonly number[]): Tensor {
  const rows = it.probs.reshape([-1, it.classCount]);
  const count = sampleShape.reduce((product, size) => product * size, 1);
  return multinomial(rows, count, true)
    .t()
    .reshape([...sampleShape, ...it.batchShape]);
}

/** Returns the log probabilities of class numbers. */
export function logProbOfIndices(where: string, logits: Tensor, indices: Tensor): Tensor {
  const places = indices.to("int64").unsqueeze(-1);
  const shape = broadcastShapes(where, places.shape, logits.shape);
  const column = places.expand([...shape.slice(0, -1), 1]);
  return logits.expand(shape).gather(-1, column).squeeze(-1);
}

/** Returns the entropy of one draw. */
export function entropyOfClasses({ logits, probs }: ClassDistribution): Tensor {
  const finite = logits.clamp(limitsOf(logits.dtype).min);
  return finite.mul(probs).sum(-1).neg();
}
