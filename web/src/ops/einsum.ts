// einsum takes a text, which no other op does: the engine gets its characters as numbers.

import { einsum as evaluate } from "../generated/internal.js";
import { describe, fail } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";

/**
 * Sum of products named by an equation: `einsum("ij,jk->ik", a, b)` is a matrix product. The
 * operands may also be given as one array.
 */
export function einsum(
  equation: string,
  ...operands: readonly Tensor[] | readonly [readonly Tensor[]]
): Tensor {
  if (typeof equation !== "string") {
    fail("InvalidArgument", "einsum", `equation: expected a text, got ${describe(equation)}.`);
  }
  const codes = Array.from(equation, (character) => character.charCodeAt(0));
  return evaluate(codes, operands.flat() as Tensor[]);
}
