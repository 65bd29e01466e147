// Norms of vectors and matrices, and condition numbers.

import type { Ints } from "../../dispatch/types.js";
import { toDtype, norm as vectorNorms } from "../../generated/internal.js";
import {
  abs,
  amax,
  amin,
  div,
  eq,
  eye,
  inverse,
  movedim,
  mul,
  reshape,
  select,
  slogdet,
  squeeze,
  sum,
  svdvals,
  unsqueeze,
  where,
} from "../../generated/ops.js";
import { fail, refusal } from "../../runtime/errors/errors.js";
import type { DType } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { axisOf } from "../shapes.js";

/** The order of a norm: a number, or the name of a norm of matrices. */
export type Order = number | "fro" | "nuc";

/** Options of vectorNorm(): the reduced axes and the dtype. */
export interface VectorNormOptions {
  dim?: Ints | null;
  keepdim?: boolean;
  dtype?: DType | null;
}

/** The `ord`-norm of vectors along `dim`, or of all elements; computed in `dtype`. */
export const vectorNorm = /* @__PURE__ */ composite(
  "vectorNorm",
  "x:tensor ord:number=2 dim:ints?=null keepdim:bool=false dtype:dtype?=null",
  (x, ord, dim, keepdim, dtype) => vectorNorms(cast(x, dtype), ord, dim, keepdim),
);

/**
 * The norm of matrices in two axes: "fro" (over all elements), "nuc" (sum of singular values), 2 and -2 (largest and smallest
 * singular value), 1 and -1 (largest and smallest sum of a column), Infinity and -Infinity (of a row).
 */
export const matrixNorm = /* @__PURE__ */ composite(
  "matrixNorm",
  'A:tensor ord:any="fro" dim:ints=[-2,-1] keepdim:bool=false dtype:dtype?=null',
  (A, ord: Order, dim, keepdim, dtype) =>
    normOfMatrices("matrixNorm", cast(A, dtype), ord, dim, keepdim),
);

/** norm() as a method. */
export interface NormMethod {
  (p?: Order, dim?: Ints | null, keepdim?: boolean, dtype?: DType | null): Tensor;
  (options: VectorNormOptions & { p?: Order }): Tensor;
  (p: Order, options: VectorNormOptions): Tensor;
  (p: Order, dim: Ints | null, options: Omit<VectorNormOptions, "dim">): Tensor;
}

/**
 * The `p`-norm over `dim`, or over all elements. "fro" is 2; "nuc" is the sum of the singular values of a matrix, or of the
 * matrices in the two axes `dim`.
 */
export const norm = /* @__PURE__ */ composite(
  "norm",
  "input:tensor p:any=2 dim:ints?=null keepdim:bool=false dtype:dtype?=null",
  (input, p: Order, dim, keepdim, dtype) => {
    const values = cast(input, dtype);
    if (typeof p === "number") return vectorNorms(values, p, dim, keepdim);
    if (p === "fro") return vectorNorms(values, 2, dim, keepdim);
    if (p === "nuc") return normOfMatrices("norm", values, p, dim ?? [-2, -1], keepdim);
    return fail("InvalidArgument", "norm", refusal("p", 'a number, "fro" or "nuc"', p));
  },
);

/**
 * The condition number of matrices in the norm `p` of matrixNorm(): by default the ratio of the largest to the smallest
 * singular value. Infinity for a singular matrix.
 */
export const cond = /* @__PURE__ */ composite(
  "cond",
  "A:tensor p:any=null",
  (A, p: Order | null) => {
    if (A.numel === 0) return sum(reshape(A, [...A.shape.slice(0, -2), 0]), -1);
    if (p === null || p === 2 || p === -2) {
      const values = svdvals(A);
      const [largest, smallest] = [select(values, -1, 0), select(values, -1, -1)];
      return p === -2 ? div(smallest, largest) : div(largest, smallest);
    }
    const [sign] = slogdet(A);
    const isSingular = eq(abs(sign), 0);
    const { dtype, device } = A;
    const identity = eye(A.shape.at(-1) ?? 0, { dtype, device });
    const regular = where(unsqueeze(unsqueeze(isSingular, -1), -1), identity, A);
    const product = mul(
      normOfMatrices("cond", regular, p, [-2, -1], false),
      normOfMatrices("cond", inverse(regular), p, [-2, -1], false),
    );
    return where(isSingular, Number.POSITIVE_INFINITY, product);
  },
);

function cast(input: Tensor, dtype: DType | null): Tensor {
  return dtype === null ? input : toDtype(input, dtype);
}

function normOfMatrices(
  caller: string,
  A: Tensor,
  ord: unknown,
  dim: Ints,
  keepdim: boolean,
): Tensor {
  const [rows, columns] = matrixAxes(caller, A, dim);
  const kept = withoutMatrices(caller, A, ord, rows, columns);
  return keepdim ? kept : squeeze(kept, [rows, columns]);
}

// The norms with the axes of the matrices kept at size 1.
function withoutMatrices(
  caller: string,
  A: Tensor,
  ord: unknown,
  rows: number,
  columns: number,
): Tensor {
  const singular = (reduce: (values: Tensor, dim: number) => Tensor) => {
    const sizes = A.shape.map((size, d) => (d === rows || d === columns ? 1 : size));
    return reshape(reduce(svdvals(movedim(A, [rows, columns], [-2, -1])), -1), sizes);
  };
  switch (ord) {
    case "fro":
      return vectorNorms(A, 2, [rows, columns], true);
    case "nuc":
      return singular(sum);
    case 2:
      return singular(amax);
    case -2:
      return singular(amin);
    case 1:
      return amax(sum(abs(A), rows, true), columns, true);
    case -1:
      return amin(sum(abs(A), rows, true), columns, true);
    case Number.POSITIVE_INFINITY:
      return amax(sum(abs(A), columns, true), rows, true);
    case Number.NEGATIVE_INFINITY:
      return amin(sum(abs(A), columns, true), rows, true);
    default: {
      const orders = '"fro", "nuc", Infinity, -Infinity, 2, -2, 1 or -1';
      return fail("InvalidArgument", caller, refusal("ord", orders, ord));
    }
  }
}

function matrixAxes(caller: string, A: Tensor, dim: Ints): [number, number] {
  const [rows, columns, ...more] = (typeof dim === "number" ? [dim] : dim).map((d) =>
    axisOf(caller, d, A.ndim),
  );
  if (rows !== undefined && columns !== undefined && rows !== columns && more.length === 0) {
    return [rows, columns];
  }
  const reason = `dim: expected two different dimensions, got [${dim}].`;
  return fail("InvalidArgument", caller, reason);
}
