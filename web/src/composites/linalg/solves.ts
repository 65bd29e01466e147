// Systems of equations that are solved through other ops.

import { toDtype } from "../../generated/internal.js";
import {
  add,
  arange,
  argsort,
  cat,
  conj,
  detach,
  empty,
  eq,
  expand,
  eye,
  flip,
  fullLike,
  gather,
  inverse,
  matmul,
  movedim,
  narrow,
  reshape,
  scatter,
  solve,
  solveTriangular,
  sub,
  takeAlongDim,
  transpose,
  tril,
  triu,
  unsqueeze,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { isComplex } from "../dtypes.js";
import { axisOf } from "../shapes.js";
import { adjointOf, checkSquare } from "./matrices.js";

/**
 * Solves A X = B, or X A = B unless `left`, with the result of luFactor() for A, [..., n, n]; with `adjoint`, for the adjoint of
 * A. B is [..., n, k], or [..., k, n] unless `left`.
 */
export const luSolve = /* @__PURE__ */ composite(
  "luSolve",
  "LU:tensor pivots:tensor B:tensor left:bool=true adjoint:bool=false",
  (LU, pivots, B, left, adjoint) => {
    checkSquare("luSolve", LU);
    const n = LU.shape.at(-1);
    if (B.ndim < 2 || B.shape.at(left ? -2 : -1) !== n) {
      const expected = left ? `[..., ${n}, k]` : `[..., k, ${n}]`;
      fail("ShapeMismatch", "luSolve", `B: expected the shape ${expected}, got [${B.shape}].`);
    }
    const rows = withDims(unsqueeze(rowsOf("luSolve", LU, pivots), -1), B.ndim);
    // X A = B is solved as the transposed system, and that of the adjoint as the conjugate one.
    const conjugated = (t: Tensor) => (adjoint && isComplex(t) ? conj(t) : t);
    const known = conjugated(withDims(left ? B : transpose(B, -2, -1), LU.ndim));
    const isTurned = adjoint === left;
    const solved = conjugated((isTurned ? turnedSolution : solution)(LU, rows, known));
    return left ? solved : transpose(solved, -2, -1);
  },
);

function withDims(t: Tensor, ndim: number): Tensor {
  const missing = Math.max(ndim - t.ndim, 0);
  return reshape(t, [...new Array<number>(missing).fill(1), ...t.shape]);
}

// The order of the rows of A in L U.
function rowsOf(where: string, LU: Tensor, pivots: Tensor): Tensor {
  const rowsShape = LU.shape.slice(0, -1);
  const [m = 0, n = 0] = LU.shape.slice(-2);
  const shape = [...LU.shape.slice(0, -2), Math.min(m, n)];
  if (!/^u?int/.test(pivots.dtype) || pivots.shape.join() !== shape.join()) {
    const reason = `pivots: expected whole numbers of the shape [${shape}], got ${pivots.dtype} of [${pivots.shape}].`;
    fail("ShapeMismatch", where, reason);
  }
  const { device } = LU;
  let rows = expand(arange(m, { dtype: "int64", device }), rowsShape);
  const partners = sub(toDtype(pivots, "int64"), 1);
  for (let i = 0; i < Math.min(m, n); i++) {
    const partner = narrow(partners, -1, i, 1);
    const pair = cat([fullLike(partner, i), partner], -1);
    rows = scatter(rows, -1, pair, gather(rows, -1, flip(pair, -1)));
  }
  return rows;
}

/**
 * The parts of the result of luFactor() for A [..., m, n]: A = P L U. Without `unpackPivots` P is empty, without `unpackData` L and U
 * are.
 */
export const luUnpack = /* @__PURE__ */ composite(
  "luUnpack",
  "LU:tensor pivots:tensor unpackData:bool=true unpackPivots:bool=true",
  (LU, pivots, unpackData, unpackPivots): [P: Tensor, L: Tensor, U: Tensor] => {
    const [m, n] = LU.shape.slice(-2);
    if (m === undefined || n === undefined)
      fail("ShapeMismatch", "luUnpack", `LU: expected [..., m, n], got the shape [${LU.shape}].`);
    const { dtype, device } = LU;
    const none = () => empty([0], { dtype, device });
    const size = Math.min(m, n);
    const P = unpackPivots ? permutationOf(rowsOf("luUnpack", LU, pivots), LU) : none();
    if (!unpackData) return [P, none(), none()];
    const identity = eye(m, size, { dtype, device });
    const L = add(tril(narrow(LU, -1, 0, size), -1), identity);
    return [P, L, triu(narrow(LU, -2, 0, size))];
  },
);

// The matrix that puts row i in the place rows[i].
function permutationOf(rows: Tensor, { dtype, device }: Tensor): Tensor {
  const places = arange(rows.shape.at(-1) ?? 0, { dtype: "int64", device });
  return toDtype(eq(unsqueeze(places, -1), unsqueeze(rows, -2)), dtype);
}

function solution(LU: Tensor, rows: Tensor, B: Tensor): Tensor {
  const ordered = takeAlongDim(B, rows, -2);
  const half = solveTriangular(LU, ordered, false, { unitriangular: true });
  return solveTriangular(LU, half, true);
}

function turnedSolution(LU: Tensor, rows: Tensor, B: Tensor): Tensor {
  const transposed = transpose(LU, -2, -1);
  const half = solveTriangular(transposed, B, false);
  const ordered = solveTriangular(transposed, half, true, { unitriangular: true });
  return takeAlongDim(ordered, argsort(rows, -2), -2);
}

/** Solves A X = B with the Cholesky factor `L` of A, [..., n, n], or with `upper` its adjoint; B is [..., n, k]. */
export const choleskySolve = /* @__PURE__ */ composite(
  "choleskySolve",
  "B:tensor L:tensor upper:bool=false",
  (B, L, upper) => {
    checkSquare("choleskySolve", L);
    if (B.ndim < 2) {
      fail("ShapeMismatch", "choleskySolve", `B: expected two or more dimensions, got ${B.ndim}.`);
    }
    return solve(fromFactor(L, upper), B);
  },
);

/** The inverse of A from its Cholesky factor `L`, [..., n, n], or with `upper` from the adjoint of that factor. */
export const choleskyInverse = /* @__PURE__ */ composite(
  "choleskyInverse",
  "L:tensor upper:bool=false",
  (L, upper) => {
    checkSquare("choleskyInverse", L);
    return inverse(fromFactor(L, upper));
  },
);

/** The inverse of `A` as a linear map from its last axes to its first `ind` axes, for tensordot(). */
export const tensorinv = /* @__PURE__ */ composite("tensorinv", "A:tensor ind:int=2", (A, ind) => {
  if (ind <= 0) {
    fail("InvalidArgument", "tensorinv", `ind: expected a whole number above 0, got ${ind}.`);
  }
  const [results, unknowns] = [A.shape.slice(0, ind), A.shape.slice(ind)];
  const matrix = asMatrix("tensorinv", A, results, unknowns);
  return reshape(inverse(matrix), [...unknowns, ...results]);
});

/** Solves tensordot(A, X, X.ndim) = B, where the shape of `A` is that of B followed by that of X. First moves `dims` of A to its end. */
export const tensorsolve = /* @__PURE__ */ composite(
  "tensorsolve",
  "A:tensor B:tensor dims:ints?=null",
  (A, B, dims) => {
    const moved = dims === null ? A : withLast("tensorsolve", A, dims);
    const unknowns = moved.shape.slice(B.ndim);
    const matrix = asMatrix("tensorsolve", moved, moved.shape.slice(0, B.ndim), unknowns);
    return reshape(solve(matrix, reshape(B, [-1])), unknowns);
  },
);

// The matrix for a factor. Only one triangle is read, but all elements have a derivative, as in PyTorch.
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
  const reason = `A: expected as many elements in the first axes as in the others, got ${rows} and ${columns}.`;
  return fail("ShapeMismatch", caller, reason);
}
