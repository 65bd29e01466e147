// Ops that the engine has for real matrices, extended to complex ones. They replace the engine's ops (web/src/index.ts), also as
// methods (web/src/tensor_methods.ts), and do the same for real matrices.

import { toDtype } from "../../generated/internal.js";
import {
  abs,
  add,
  arange,
  diagonal,
  cholesky as engineCholesky,
  det as engineDet,
  inverse as engineInverse,
  lu as engineLu,
  luFactor as engineLuFactor,
  pinv as enginePinv,
  slogdet as engineSlogdet,
  solve as engineSolve,
  solveTriangular as engineSolveTriangular,
  eq,
  eye,
  log,
  mul,
  pad,
  prod,
  real,
  sgn,
  squeeze,
  sum,
  tril,
  triu,
  unsqueeze,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { isComplex } from "../dtypes.js";
import { eliminated } from "./elimination.js";
import { adjointOf, checkSquare } from "./matrices.js";
import { fromRealForm, realForm } from "./real_form.js";

/** Inverse of every square matrix. */
export const inverse: typeof engineInverse = /* @__PURE__ */ composite(
  "inverse",
  "input:tensor",
  (input: Tensor) => {
    if (!isComplex(input)) return engineInverse(input);
    checkSquare("inverse", input);
    return fromRealForm(engineInverse(realForm(input)));
  },
);

/** Solves A X = B, or X A = B unless left; B is a matrix or a vector. */
export const solve: typeof engineSolve = /* @__PURE__ */ composite(
  "solve",
  "A:tensor B:tensor left:bool=true",
  (A: Tensor, B: Tensor, left: boolean) => {
    if (!isComplex(A) || A.dtype !== B.dtype) return engineSolve(A, B, left);
    checkSquare("solve", A);
    const isVector = B.ndim === 1 || (B.ndim === A.ndim - 1 && startsWith(A.shape, B.shape));
    if (!isVector) return solved("solve", A, B, left);
    if (left) return squeeze(solved("solve", A, unsqueeze(B, -1), true), -1);
    return fail("InvalidArgument", "solve", "B: expected a matrix with left: false, got a vector.");
  },
);

/**
 * Solves A X = B, or X A = B unless left, for triangular A. The other triangle of A is not read, and with unitriangular neither
 * is the diagonal, which is then 1.
 */
export const solveTriangular: typeof engineSolveTriangular = /* @__PURE__ */ composite(
  "solveTriangular",
  "A:tensor B:tensor upper:bool left:bool=true unitriangular:bool=false",
  (A: Tensor, B: Tensor, upper: boolean, left: boolean, unitriangular: boolean) => {
    const options = { left, unitriangular };
    if (!isComplex(A) || A.dtype !== B.dtype) return engineSolveTriangular(A, B, upper, options);
    checkSquare("solveTriangular", A);
    const { dtype, device } = A;
    const first = unitriangular ? 1 : 0;
    const triangle = upper ? triu(A, first) : tril(A, -first);
    const one = unitriangular ? eye(A.shape.at(-1) ?? 0, { dtype, device }) : 0;
    return solved("solveTriangular", add(triangle, one), B, left);
  },
);

/** The lower triangular L with input = L Lᴴ for positive-definite matrices; with upper, Lᴴ. */
export const cholesky: typeof engineCholesky = /* @__PURE__ */ composite(
  "cholesky",
  "input:tensor upper:bool=false",
  (input: Tensor, upper: boolean) => {
    if (!isComplex(input)) return engineCholesky(input, upper);
    checkSquare("cholesky", input);
    // The real form requires a real diagonal.
    const own = mul(add(input, adjointOf(input)), 0.5);
    return fromRealForm(engineCholesky(realForm(own), upper));
  },
);

/** Determinant of every square matrix. */
export const det: typeof engineDet = /* @__PURE__ */ composite(
  "det",
  "input:tensor",
  (input: Tensor) => {
    if (!isComplex(input)) return engineDet(input);
    checkSquare("det", input);
    const { U, parity } = eliminated(input);
    return mul(prod(diagonal(U, 0, -2, -1), -1), parity);
  },
);

/** `[sign, logabsdet]`: the sign of the determinant, for complex matrices a number of magnitude 1, and the logarithm of its magnitude. */
export const slogdet: typeof engineSlogdet = /* @__PURE__ */ composite(
  "slogdet",
  "input:tensor",
  (input: Tensor) => {
    if (!isComplex(input)) return engineSlogdet(input);
    checkSquare("slogdet", input);
    const { U, parity } = eliminated(input);
    const factors = diagonal(U, 0, -2, -1);
    return [mul(prod(sgn(factors), -1), parity), sum(log(abs(factors)), -1)];
  },
);

/** [P, L, U] with A = P L U: a permutation, a lower triangular matrix with ones on its diagonal, and an upper triangular one. */
export const lu: typeof engineLu = /* @__PURE__ */ composite(
  "lu",
  "A:tensor pivot:bool=true",
  (A: Tensor, pivot: boolean) => {
    if (!isComplex(A) || A.ndim < 2 || !pivot) return engineLu(isComplex(A) ? real(A) : A, pivot);
    const { L, U, order } = eliminated(A);
    const rows = arange(A.shape.at(-2) ?? 0, { dtype: "int64", device: A.device });
    const isRow = eq(unsqueeze(order, -2), unsqueeze(rows, -1));
    return [toDtype(isRow, A.dtype), L, U];
  },
);

/**
 * `[LU, pivots]`: the result of eliminating A with row exchanges, U with L below its diagonal, and the exchanged rows, counted
 * from 1.
 */
export const luFactor: typeof engineLuFactor = /* @__PURE__ */ composite(
  "luFactor",
  "A:tensor pivot:bool=true",
  (A: Tensor, pivot: boolean) => {
    if (!isComplex(A) || A.ndim < 2 || !pivot)
      return engineLuFactor(isComplex(A) ? real(A) : A, pivot);
    const { L, U, exchanged } = eliminated(A);
    const [rows = 0, columns = 0] = A.shape.slice(-2);
    const count = Math.min(rows, columns);
    const lower = pad(tril(L, -1), [0, columns - count]);
    return [add(lower, pad(U, [0, 0, 0, rows - count])), exchanged];
  },
);

/** The pseudo-inverse; singular values of at most max(atol, rtol * the largest) count as zero. hermitian: A is Hermitian. */
export const pinv: typeof enginePinv = /* @__PURE__ */ composite(
  "pinv",
  "A:tensor atol:number?=null rtol:number?=null hermitian:bool=false",
  (A: Tensor, atol: number | null, rtol: number | null, hermitian: boolean) => {
    if (!isComplex(A) || A.ndim < 2) return enginePinv(A, atol, rtol, hermitian);
    if (hermitian) checkSquare("pinv", A);
    return fromRealForm(enginePinv(realForm(A), atol, rtol, hermitian));
  },
);

function startsWith(shape: readonly number[], start: readonly number[]): boolean {
  return start.every((size, d) => size === shape[d]);
}

function solved(caller: string, A: Tensor, B: Tensor, left: boolean): Tensor {
  const size = A.shape.at(-1);
  if (B.ndim < 2 || B.shape.at(left ? -2 : -1) !== size) {
    const equation = left ? "AX = B" : "XA = B";
    const reason = `shapes of A and B do not fit ${equation}`;
    fail("ShapeMismatch", caller, `${reason}: got [${A.shape}] and [${B.shape}].`);
  }
  return fromRealForm(engineSolve(realForm(A), realForm(B), left));
}
