// Helpers of functions of matrices.

import { conj, transpose } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { isComplex } from "../dtypes.js";

/** The conjugate transpose of matrices. */
export function adjointOf(A: Tensor): Tensor {
  const transposed = transpose(A, -2, -1);
  return isComplex(A) ? conj(transposed) : transposed;
}

/** ShapeMismatch unless the last two axes hold square matrices. */
export function checkSquare(caller: string, A: Tensor): void {
  const [rows, columns] = A.shape.slice(-2);
  if (A.ndim >= 2 && rows === columns) return;
  const reason = `A: expected square matrices, got shape [${A.shape.join(", ")}].`;
  fail("ShapeMismatch", caller, reason);
}
