// Factorizations that report which matrices of a batch have none, instead of throwing.

import { toDtype } from "../../generated/internal.js";
import {
  add,
  any,
  arange,
  argmax,
  cat,
  cholesky,
  diagonal,
  div,
  eq,
  eye,
  flip,
  gather,
  gt,
  inverse,
  logicalNot,
  lu,
  luFactor,
  matmul,
  mul,
  narrow,
  real,
  scatter,
  solve,
  stack,
  sub,
  transpose,
  tril,
  unsqueeze,
  where,
  zeros,
} from "../../generated/ops.js";
import { EdgeGradError } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { isComplex } from "../dtypes.js";
import { checkSquare } from "./matrices.js";

/**
 * cholesky() with the number of the first leading minor of each matrix that is not positive, 0 for a positive-definite one. The factors of the
 * others are NaN; with `checkErrors` it throws.
 */
export const choleskyEx = /* @__PURE__ */ composite(
  "linalg.choleskyEx",
  "A:tensor upper:bool=false checkErrors:bool=false",
  (A, upper, checkErrors): [L: Tensor, info: Tensor] => {
    checkSquare("linalg.choleskyEx", A);
    return attempt(
      A,
      checkErrors,
      (matrix) => [cholesky(matrix, upper)],
      () => firstMinor(A),
    );
  },
);

/**
 * inverse() with the number of the first zero on the diagonal of U in P L U of each matrix, 0 for one that has an inverse. The inverses of the
 * others are NaN; with `checkErrors` it throws.
 */
export const invEx = /* @__PURE__ */ composite(
  "linalg.invEx",
  "A:tensor checkErrors:bool=false",
  (A, checkErrors): [inverse: Tensor, info: Tensor] => {
    checkSquare("linalg.invEx", A);
    return attempt(
      A,
      checkErrors,
      (matrix) => [inverse(matrix)],
      () => firstZero(lu(A)[2]),
    );
  },
);

/**
 * solve() with the number of the first zero on the diagonal of U in P L U of each matrix, 0 for one that has an inverse. The solutions of the
 * others are NaN; with `checkErrors` it throws.
 */
export const solveEx = /* @__PURE__ */ composite(
  "linalg.solveEx",
  "A:tensor B:tensor left:bool=true checkErrors:bool=false",
  (A, B, left, checkErrors): [result: Tensor, info: Tensor] => {
    checkSquare("linalg.solveEx", A);
    return attempt(
      A,
      checkErrors,
      (matrix) => [solve(matrix, B, left)],
      () => firstZero(lu(A)[2]),
      isVector(A, B) ? 1 : 2,
    );
  },
);

/**
 * luFactor() of any matrices, with the number of the first zero on the diagonal of U of each, 0 if there is none. With `checkErrors` it throws
 * if there is one.
 */
export const luFactorEx = /* @__PURE__ */ composite(
  "linalg.luFactorEx",
  "A:tensor pivot:bool=true checkErrors:bool=false",
  (A, pivot, checkErrors): [LU: Tensor, pivots: Tensor, info: Tensor] => {
    const factors = checkErrors ? luFactor(A, pivot) : orNull(() => luFactor(A, pivot));
    if (factors !== null) return [...factors, noInfo(A)];
    const [P, L, U] = lu(A, pivot);
    const [m = 0, n = 0] = A.shape.slice(-2);
    const below = tril(L, -1);
    const { dtype, device } = A;
    const padding = zeros([...A.shape.slice(0, -1), Math.max(n - m, 0)], { dtype, device });
    const above = zeros([...A.shape.slice(0, -2), Math.max(m - n, 0), n], { dtype, device });
    const LU = add(cat([below, padding], -1), cat([U, above], -2));
    return [LU, pivotsOf(P, Math.min(m, n)), firstZero(U)];
  },
);

// Whether the right side has a vector for each matrix.
function isVector(A: Tensor, B: Tensor): boolean {
  return B.ndim === 1 || (B.ndim === A.ndim - 1 && B.shape.every((size, i) => size === A.shape[i]));
}

// Computes with all matrices, or if that fails, with those that have a result; the others get NaN. The results have `dims` dimensions each.
function attempt(
  A: Tensor,
  checkErrors: boolean,
  compute: (A: Tensor) => readonly [Tensor],
  judge: () => Tensor,
  dims = 2,
): [result: Tensor, info: Tensor] {
  const all = checkErrors ? compute(A) : orNull(() => compute(A));
  if (all !== null) return [...all, noInfo(A)];
  const info = judge();
  const { dtype, device } = A;
  const fails = unsqueeze(gt(info, 0), -1);
  const identity = eye(A.shape.at(-1) ?? 0, { dtype, device });
  const [result] = compute(where(unsqueeze(fails, -1), identity, A));
  return [where(dims === 1 ? fails : unsqueeze(fails, -1), Number.NaN, result), info];
}

// The result, or null if a matrix has none.
function orNull<T>(compute: () => T): T | null {
  try {
    return compute();
  } catch (error) {
    if (EdgeGradError.isOne(error) && error.code === "InvalidArgument") return null;
    throw error;
  }
}

function noInfo({ shape, device }: Tensor): Tensor {
  return zeros(shape.slice(0, -2), { dtype: "int32", device });
}

// The number of the first element of the diagonals that is true, and 0 without any.
function firstTrue(elements: Tensor): Tensor {
  const place = add(argmax(toDtype(elements, "int32"), -1), 1);
  return toDtype(where(any(elements, -1), place, 0), "int32");
}

function firstZero(U: Tensor): Tensor {
  return firstTrue(eq(diagonal(U, 0, -2, -1), 0));
}

// The first leading minor that is not positive, by elimination without exchanges.
function firstMinor(A: Tensor): Tensor {
  const n = A.shape.at(-1) ?? 0;
  let rest = A.detach();
  const pivots: Tensor[] = [];
  for (let k = 0; k < n; k++) {
    const column = narrow(rest, -1, 0, 1);
    const pivot = narrow(column, -2, 0, 1);
    pivots.push(pivot.reshape(A.shape.slice(0, -2)));
    const size = n - k - 1;
    const below = div(narrow(column, -2, 1, size), pivot);
    const right = narrow(narrow(rest, -2, 0, 1), -1, 1, size);
    const corner = narrow(narrow(rest, -2, 1, size), -1, 1, size);
    rest = sub(corner, matmul(below, right));
  }
  const diagonals = stack(pivots, -1);
  return firstTrue(logicalNot(gt(isComplex(A) ? real(diagonals) : diagonals, 0)));
}

// The exchanges of rows, counted from 1, that make the permutation P: row i has changed places with the row of its number.
function pivotsOf(P: Tensor, count: number): Tensor {
  const wanted = argmax(toDtype(transpose(isComplex(P) ? real(P) : P, -2, -1), "int32"), -1);
  let rows = add(mul(wanted, 0), arange(P.shape.at(-1) ?? 0, { device: P.device }));
  const pivots: Tensor[] = [];
  for (let i = 0; i < count; i++) {
    const place = argmax(toDtype(eq(rows, narrow(wanted, -1, i, 1)), "int32"), -1, true);
    const index = add(mul(place, 0), i);
    const pair = cat([index, place], -1);
    rows = scatter(rows, -1, pair, gather(rows, -1, flip(pair, -1)));
    pivots.push(add(place, 1));
  }
  return toDtype(cat(pivots, -1), "int32");
}
