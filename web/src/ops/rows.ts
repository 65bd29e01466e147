// Iterating over the rows of a tensor.

import { unbind } from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import type { Tensor } from "../tensor/tensor.js";

/** Returns the tensors along the first dimension; they share the data. */
export function rowsOf(tensor: Tensor): Tensor[] {
  if (tensor.ndim > 0) return unbind(tensor, 0);
  fail(
    "InvalidArgument",
    "Tensor",
    "cannot iterate over a 0-d tensor: use item() for its value. For a test runner that compares tensors, call " +
      "expect.addEqualityTesters([eg.testing.tensorsAreEqual]).",
  );
}
