// einsum is the only op that takes a string: it is passed to the engine as character codes.

import { einsum as evaluate } from "../generated/internal.js";
import { describe, fail } from "../runtime/errors/errors.js";
import type { Tensor } from "../tensor/tensor.js";

/**
 * Returns the sum of products that an equation describes: `einsum("ij,jk->ik", a, b)` is a matrix
 * product. The operands may also be passed as one array.
 */
export function einsum(
  equation: string,
  ...operands: readonly Tensor[] | readonly [readonly Tensor[]]
): Tensor {
  if (typeof equation !== "string") {
    fail("InvalidArgument", "einsum", `equation: expected a string, got ${describe(equation)}.`);
  }
  const codes = Array.from(equation, (character) => character.charCodeAt(0));
  return evaluate(codes, operands.flat() as Tensor[]);
}
