// Small formulas that distributions share.

import { noGrad } from "../../autograd/grad_mode.js";
import { sub } from "../../generated/ops.js";
import { finfo } from "../../ops/number_types.js";
import { isAllTrue } from "../../ops/samples.js";
import { type DType, isFloat } from "../../tensor/dtype.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";

export const kEulerGamma = 0.5772156649015329;

/** The limits of a floating-point type. */
export interface FloatLimits {
  /** The distance from 1 to the next larger number. */
  readonly eps: number;
  /** The smallest positive normal number. */
  readonly tiny: number;
  /** The most negative finite number. */
  readonly min: number;
}

/** Returns the limits of a dtype; those of float32 if it is not a floating-point type. */
export function limitsOf(dtype: DType): FloatLimits {
  return finfo(isFloat(dtype) ? dtype : "float32");
}

/** Returns `value` summed over its last `count` dimensions. */
export function sumRightmost(value: Tensor, count: number): Tensor {
  if (count === 0) return value;
  return value.sum(Array.from({ length: count }, (_, i) => -1 - i));
}

/** Returns probabilities clamped to [eps, 1 - eps] for the eps of their dtype. */
export function clampProbs(probs: Tensor): Tensor {
  const { eps } = limitsOf(probs.dtype);
  return probs.clamp(eps, 1 - eps);
}

/** Returns the log odds of probabilities. */
export function logOdds(probs: Tensor): Tensor {
  const clamped = clampProbs(probs);
  return clamped.log().sub(clamped.neg().log1p());
}

/** Returns 1 - value. */
export function oneMinus(value: Tensor): Tensor {
  return sub(1, value);
}

/** Returns log densities, replaced by that of a density of 0 where `value` is infinite. */
export function vanishingAtInfinity(logDensity: Tensor, value: Tensor): Tensor {
  return logDensity.maskedFill(value.isinf(), Number.NEGATIVE_INFINITY);
}

/** Returns the negative log likelihood of `value`, from 0 to 1, for these log odds, elementwise. */
export function crossEntropyOfBits(logits: Tensor, value: Tensor): Tensor {
  return logits.binaryCrossEntropyWithLogits(value, { reduction: "none" });
}

/** Returns the product of a lower triangular matrix, or a batch of them, and vectors. */
export function matrixTimesVector(matrix: Tensor, vector: Tensor): Tensor {
  return matrix.matmul(vector.unsqueeze(-1)).squeeze(-1);
}

/** Returns whether every element of a condition is true; nothing is recorded, and temporary tensors are freed. */
export function holdsEverywhere(condition: () => Tensor): boolean {
  return scope(() => noGrad(() => isAllTrue(condition())));
}
