// Systems of equations that are solved by way of others, and determinants.

import {
  add,
  detach,
  eq,
  log,
  matmul,
  movedim,
  reshape,
  sub,
  tril,
  triu,
  where,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { isComplex } from "../dtypes.js";
import { axisOf } from "../shapes.js";
import { adjointOf, checkSquare } from "./matrices.js";
import { inverse, slogdet, solve } from "./of_complex.js";

/** The logarithm of the determinant of square matrices; NaN where it is negative. */
export const logdet: (A: Tensor) => Tensor = /* @__PURE__ */ composite(
  "logdet",
  "A:tensor",
  (A: Tensor) => {
    const [sign, size] = slogdet(A);
    if (isComplex(A)) return add(log(sign), size);
    return where(eq(sign, -1), Number.NaN, size);
  },
);

interface CholeskySolve {
  (B: Tensor, L: Tensor, upper?: boolean): Tensor;
  (B: Tensor, L: Tensor, options: { upper?: boolean }): Tensor;
}

/** X of A X = B for the Cholesky factor `L` of A, [..., n, n], or its adjoint where `upper`; B is [..., n, k]. */
export const choleskySolve: CholeskySolve = /* @__PURE__ */ composite(
  "choleskySolve",
  "B:tensor L:tensor upper:bool=false",
  (B: Tensor, L: Tensor, upper: boolean) => {
    checkSquare("choleskySolve", L);
    if (B.ndim < 2) {
      fail(
        "ShapeMismatch",
        "choleskySolve",
        `B should have at least 2 dimensions, but has ${B.ndim}.`,
      );
    }
    return solve(fromFactor(L, upper), B);
  },
);

interface CholeskyInverse {
  (L: Tensor, upper?: boolean): Tensor;
  (L: Tensor, options: { upper?: boolean }): Tensor;
}

/** The inverse of A for its Cholesky factor `L`, [..., n, n], or the adjoint of that where `upper`. */
export const choleskyInverse: CholeskyInverse = /* @__PURE__ */ composite(
  "choleskyInverse",
  "L:tensor upper:bool=false",
  (L: Tensor, upper: boolean) => {
    checkSquare("choleskyInverse", L);
    return inverse(fromFactor(L, upper));
  },
);

interface Tensorinv {
  (A: Tensor, ind?: number): Tensor;
  (A: Tensor, options: { ind?: number }): Tensor;
}

/** The inverse of `A` as a map from its last axes to its first `ind` ones, for tensordot(). */
export const tensorinv: Tensorinv = /* @__PURE__ */ composite(
  "tensorinv",
  "A:tensor ind:int=2",
  (A: Tensor, ind: number) => {
    if (ind <= 0) {
      fail(
        "InvalidArgument",
        "tensorinv",
        `Expected a strictly positive integer for 'ind', but got ${ind}.`,
      );
    }
    const [results, unknowns] = [A.shape.slice(0, ind), A.shape.slice(ind)];
    const matrix = asMatrix("tensorinv", A, results, unknowns);
    return reshape(inverse(matrix), [...unknowns, ...results]);
  },
);

interface Tensorsolve {
  (A: Tensor, B: Tensor, dims?: readonly number[] | null): Tensor;
  (A: Tensor, B: Tensor, options: { dims?: readonly number[] | null }): Tensor;
}

/** X of tensordot(A, X, X.ndim) = B: the shape of `A` is that of B, then that of X. `dims` of A are moved to its end before. */
export const tensorsolve: Tensorsolve = /* @__PURE__ */ composite(
  "tensorsolve",
  "A:tensor B:tensor dims:ints?=null",
  (A: Tensor, B: Tensor, dims: number | readonly number[] | null) => {
    const moved = dims === null ? A : withLast("tensorsolve", A, dims);
    const unknowns = moved.shape.slice(B.ndim);
    const matrix = asMatrix("tensorsolve", moved, moved.shape.slice(0, B.ndim), unknowns);
    return reshape(solve(matrix, reshape(B, [-1])), unknowns);
  },
);

// The matrix of a factor, of which only one triangle is read but all has a derivative, as PyTorch has it.
function fromFactor(L: Tensor, upper: boolean): Tensor {
  const other = detach(upper ? tril(L, -1) : triu(L, 1));
  const factor = sub(L, other);
  return upper ? matmul(adjointOf(factor), factor) : matmul(factor, adjointOf(factor));
}

function withLast(caller: string, A: Tensor, dims: number | readonly number[]): Tensor {
  const axes = (typeof dims === "number" ? [dims] : dims).map((d) => axisOf(caller, d, A.ndim));
  return movedim(
    A,
    axes,
    axes.map((_, i) => A.ndim - axes.length + i),
  );
}

function asMatrix(
  caller: string,
  A: Tensor,
  results: readonly number[],
  unknowns: readonly number[],
): Tensor {
  const [rows, columns] = [results, unknowns].map((sizes) => sizes.reduce((a, b) => a * b, 1));
  if (rows === columns) return reshape(A, [rows ?? 0, columns ?? 0]);
  const told = `Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got ${columns} != ${rows}.`;
  return fail("ShapeMismatch", caller, told);
}
