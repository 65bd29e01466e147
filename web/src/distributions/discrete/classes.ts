// What distributions over classes, the last dimension of their parameters, have in common.

import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastShapes,
  type GivenProbabilities,
  type Parameter,
  readProbabilities,
} from "../base/arguments.js";
import { Distribution, type DistributionParts } from "../base/distribution.js";
import { clampProbs, limitsOf } from "../base/numbers.js";
import { multinomial } from "../base/random.js";
import { type Constraint, realVector, simplex } from "../constraints/constraints.js";

/** A distribution over classes. */
export abstract class ClassDistribution extends Distribution<GivenProbabilities> {
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

  /** The shape of the parameter that was given. */
  get paramShape(): readonly number[] {
    return this.given.shape;
  }

  /** The tensor that was given, probabilities or logits, normalized. */
  protected get given(): Tensor {
    return (this.parameters.probs ?? this.parameters.logits) as Tensor;
  }

  /** How many classes there are. */
  protected get classCount(): number {
    return this.given.shape.at(-1) as number;
  }

  /** Draws class numbers in the shape of the samples and the batch. */
  protected drawIndices(sampleShape: readonly number[]): Tensor {
    const rows = this.probs.reshape([-1, this.classCount]);
    const count = sampleShape.reduce((product, size) => product * size, 1);
    return multinomial(rows, count, true)
      .t()
      .reshape([...sampleShape, ...this.batchShape]);
  }

  /** Returns the log probabilities of class numbers. */
  protected logProbOfIndices(indices: Tensor): Tensor {
    const { logits } = this;
    const places = indices.to("int64").unsqueeze(-1);
    const shape = broadcastShapes(this.whereIs("logProb"), places.shape, logits.shape);
    const column = places.expand([...shape.slice(0, -1), 1]);
    return logits.expand(shape).gather(-1, column).squeeze(-1);
  }

  /** Returns the entropy of one draw. */
  protected entropyOfClasses(): Tensor {
    const { logits } = this;
    const finite = logits.clamp(limitsOf(logits.dtype).min);
    return finite.mul(this.probs).sum(-1).neg();
  }
}

/** Returns what a distribution over classes with vectors as values is made with; the parameters are normalized. */
export function partsOfClasses(
  where: string,
  call: { probs: Parameter | null; logits: Parameter | null; validateArgs: boolean | null },
): DistributionParts<GivenProbabilities> {
  const { probs, logits } = readProbabilities(where, call.probs, call.logits);
  const { shape } = (probs ?? logits) as Tensor;
  if (shape.length === 0) {
    const told = `\`${probs ? "probs" : "logits"}\` parameter must be at least one-dimensional.`;
    fail("ShapeMismatch", where, told);
  }
  const parameters = probs
    ? { probs: probs.div(probs.sum(-1, true)) }
    : { logits: (logits as Tensor).sub((logits as Tensor).logsumexp(-1, true)) };
  return {
    parameters,
    batchShape: shape.slice(0, -1),
    eventShape: shape.slice(-1),
    validateArgs: call.validateArgs,
  };
}
