import { sparseSolve } from "../../generated/internal.js";
import { composite } from "../composite.js";

/**
 * The x with `input` @ x = `other`, for a square sparse matrix and a vector or matrix [n, columns] of the same dtype; dense. Gradients flow
 * to both. It is computed in double precision on the CPU, by Cholesky's elimination where the matrix is symmetric and positive, else with
 * pivots. Throws InvalidArgument for a singular matrix, and ShapeMismatch or DtypeMismatch for operands that do not fit.
 */
export const spsolve = /* @__PURE__ */ composite(
  "sparse.spsolve",
  "input:tensor other:tensor",
  (input, other) => sparseSolve(input, other),
);
