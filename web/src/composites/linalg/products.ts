// Products of vectors and of several matrices.

import {
  add,
  conj,
  expand,
  eye,
  matmul,
  mul,
  narrow,
  solveTriangular,
  squeeze,
  sub,
  sum,
  tril,
  triu,
  unsqueeze,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { isComplex } from "../dtypes.js";
import { adjointOf } from "./matrices.js";

/** The conjugate transpose of matrices, [..., n, m] for [..., m, n]. */
export const adjoint = /* @__PURE__ */ composite("adjoint", "input:tensor", (input) =>
  adjointOf(input),
);

/** Dot products of vectors along `dim`, the first conjugated, with broadcasting. */
export const vecdot = /* @__PURE__ */ composite(
  "vecdot",
  "x:tensor y:tensor dim:int=-1",
  (x, y, dim) => sum(mul(isComplex(x) ? conj(x) : x, y), dim),
);

/** The product of two or more matrices, in the order with the fewest multiplications; the first and the last may be vectors. */
export const multiDot = /* @__PURE__ */ composite("multiDot", "tensors:tensors", (tensors) => {
  const [first, last] = [tensors[0], tensors.at(-1)];
  if (first === undefined || last === undefined || tensors.length < 2) {
    const reason = `expected at least 2 tensors, got ${tensors.length}.`;
    return fail("InvalidArgument", "multiDot", reason);
  }
  const matrices = [...tensors];
  if (first.ndim === 1) matrices[0] = unsqueeze(first, 0);
  if (last.ndim === 1) matrices[matrices.length - 1] = unsqueeze(last, 1);
  checkChain(matrices);
  const product = chained(matrices, bestSplits(matrices), 0, matrices.length - 1);
  const single = [...(first.ndim === 1 ? [0] : []), ...(last.ndim === 1 ? [1] : [])];
  return single.length === 0 ? product : squeeze(product, single);
});

interface HouseholderProduct {
  (A: Tensor, tau: Tensor): Tensor;
  (A: Tensor, options: { tau: Tensor }): Tensor;
}

/**
 * The first columns of the product of the reflections I - tau v v*, where each v is a column of `A` [..., m, n] below its
 * diagonal, with a 1 on it; `tau` is [..., k].
 */
export const householderProduct = /* @__PURE__ */ composite<HouseholderProduct>(
  "householderProduct",
  "A:tensor tau:tensor",
  (A: Tensor, tau: Tensor) => {
    const [rows = 0, columns = 0] = A.shape.slice(-2);
    const count = tau.shape.at(-1) ?? 0;
    if (A.ndim < 2 || rows < columns || columns < count || tau.ndim !== A.ndim - 1) {
      const got = `A of shape [${A.shape.join(", ")}] and tau of shape [${tau.shape.join(", ")}]`;
      const reason = `expected A [..., m, n] and tau [..., k] with m >= n >= k`;
      fail("ShapeMismatch", "householderProduct", `${reason}, got ${got}.`);
    }
    if (tau.dtype !== A.dtype) {
      const reason = `tau: expected the dtype of A, ${A.dtype}, got ${tau.dtype}.`;
      fail("DtypeMismatch", "householderProduct", reason);
    }
    const { dtype, device } = A;
    const identity = eye(rows, columns, { dtype, device });
    if (count === 0)
      return add(expand(identity, A.shape), unsqueeze(unsqueeze(sum(tau, -1), -1), -1));
    // The product is I - V T V* with the upper triangular T = (I + D S)^-1 D, where D = diag(tau) and S is the part of V* V above
    // its diagonal.
    const v = add(tril(narrow(A, -1, 0, count), -1), eye(rows, count, { dtype, device }));
    const scales = unsqueeze(tau, -1);
    const unit = mul(scales, triu(matmul(adjointOf(v), v), 1));
    const right = mul(scales, adjointOf(narrow(v, -2, 0, columns)));
    const solved = solveTriangular(unit, right, true, { unitriangular: true });
    return sub(identity, matmul(v, solved));
  },
);

function checkChain(matrices: readonly Tensor[]): void {
  for (const [i, matrix] of matrices.entries()) {
    if (matrix.ndim !== 2) {
      const reason = `tensor ${i}: expected a matrix, or a vector as the first or last, got ${matrix.ndim} dimensions.`;
      fail("ShapeMismatch", "multiDot", reason);
    }
    const before = matrices[i - 1];
    if (before === undefined || before.shape[1] === matrix.shape[0]) continue;
    const reason = `tensors ${i - 1} and ${i} with shapes [${before.shape.join(", ")}] and [${matrix.shape.join(", ")}] cannot be multiplied.`;
    fail("ShapeMismatch", "multiDot", reason);
  }
}

// The index at which to split the product of matrices i to j for the fewest multiplications.
function bestSplits(matrices: readonly Tensor[]): number[][] {
  const count = matrices.length;
  const sizes = [matrices[0]?.shape[0] ?? 0, ...matrices.map(({ shape }) => shape[1] ?? 0)];
  const table = () => Array.from({ length: count }, () => new Array<number>(count).fill(0));
  const [costs, splits] = [table(), table()];
  const at = (i: number, j: number) => costs[i]?.[j] ?? 0;
  for (let length = 1; length < count; length++) {
    for (let i = 0; i + length < count; i++) {
      const j = i + length;
      const costOf = (k: number) =>
        at(i, k) + at(k + 1, j) + (sizes[i] ?? 0) * (sizes[k + 1] ?? 0) * (sizes[j + 1] ?? 0);
      let best = i;
      for (let k = i + 1; k < j; k++) if (costOf(k) < costOf(best)) best = k;
      (costs[i] as number[])[j] = costOf(best);
      (splits[i] as number[])[j] = best;
    }
  }
  return splits;
}

function chained(
  matrices: readonly Tensor[],
  splits: readonly number[][],
  i: number,
  j: number,
): Tensor {
  if (i === j) return matrices[i] as Tensor;
  const cut = splits[i]?.[j] ?? i;
  return matmul(chained(matrices, splits, i, cut), chained(matrices, splits, cut + 1, j));
}
