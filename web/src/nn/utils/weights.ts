// The computations of weightNorm and spectralNorm.

import { noGrad } from "../../autograd/grad_mode.js";
import { norm } from "../../generated/internal.js";
import { div, empty, flatten, mul, normal_, normalize } from "../../generated/ops.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";

/** Returns the norms of a weight over all dimensions but `dim`, which keep size 1; for null the norm of the whole weight. */
export function normExcept(weight: Tensor, dim: number | null): Tensor {
  if (dim === null || dim === -1) return norm(weight);
  const others = weight.shape.map((_, d) => d).filter((d) => d !== dim);
  return norm(weight, 2, others, true);
}

/** Returns a weight with the direction of `direction` and these norms. */
export function scaledTo(direction: Tensor, norms: Tensor, dim: number | null): Tensor {
  return scope(() => mul(direction, div(norms, normExcept(direction, dim))));
}

/** Returns a weight as a matrix, whose rows are along `dim`. */
export function matrixOf(weight: Tensor, dim: number): Tensor {
  const first = dim === 0 ? weight : withDimFirst(weight, dim);
  return flatten(first, 1);
}

function withDimFirst(weight: Tensor, dim: number): Tensor {
  const others = weight.shape.map((_, d) => d).filter((d) => d !== dim);
  return weight.permute([dim, ...others]);
}

/** Draws a random vector of norm 1. */
export function randomDirection({ dtype, device }: Tensor, size: number, eps: number): Tensor {
  return scope(() => noGrad(() => normalize(normal_(empty([size], { dtype, device })), 2, 0, eps)));
}
