// Functions of torch.linalg whose namesakes in torch have another meaning or other defaults.

import type { Arguments } from "../../arguments/read.js";
import type { Ints } from "../../dispatch/types.js";
import {
  cat,
  cumprod,
  diagonal as diagonalOf,
  expand,
  onesLike,
  unsqueeze,
} from "../../generated/ops.js";
import { fail, refusal } from "../../runtime/errors.js";
import type { DType } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { matrixNorm, type Order, type VectorNormOptions, vectorNorm } from "./norms.js";

interface LinalgNorm {
  (
    A: Tensor,
    ord?: Order | null,
    dim?: Ints | null,
    keepdim?: boolean,
    dtype?: DType | null,
  ): Tensor;
  (A: Tensor, options: VectorNormOptions & { ord?: Order | null }): Tensor;
  (A: Tensor, ord: Order | null, options: VectorNormOptions): Tensor;
  (A: Tensor, ord: Order | null, dim: Ints | null, options: Omit<VectorNormOptions, "dim">): Tensor;
}

/**
 * The norm of vectors along one `dim`, or of matrices in two of them. Without `dim` but with an `ord`, it is the norm of a
 * matrix (matrixNorm()) or vector (vectorNorm()); without both it is the 2-norm of all elements.
 */
export const norm: LinalgNorm = /* @__PURE__ */ composite(
  "linalg.norm",
  "A:tensor ord:any=null dim:ints?=null keepdim:bool=false dtype:dtype?=null",
  (A: Tensor, ord: unknown, dim: Ints | null, keepdim: boolean, dtype: DType | null) => {
    const dims = typeof dim === "number" ? [dim] : dim;
    const axes = dims?.length ?? (ord === null ? 0 : A.ndim);
    if ((dims !== null || ord !== null) && axes !== 1 && axes !== 2) {
      const reason =
        dims === null
          ? `expected a vector or a matrix with ord and without dim, got shape [${A.shape}]: pass dim, or ` +
            "flatten() it first"
          : `dim: expected one or two dimensions, got [${dims}]`;
      fail("InvalidArgument", "linalg.norm", `${reason}.`);
    }
    if (axes === 2 && ord !== null) {
      return matrixNorm(A, ord as Order, dims ?? [0, 1], keepdim, dtype);
    }
    if (ord !== null && typeof ord !== "number") {
      const expected = "a number for the norm of vectors";
      fail("InvalidArgument", "linalg.norm", refusal("ord", expected, ord));
    }
    return vectorNorm(A, ord ?? 2, dims, keepdim, dtype);
  },
);

interface DiagonalOptions {
  offset?: number;
  dim1?: number;
  dim2?: number;
}

/** The diagonals of matrices in the dimensions `dim1` and `dim2`, by default the last two; a view. */
export const diagonal: (
  A: Tensor,
  ...rest: Arguments<[offset: number, dim1: number, dim2: number], DiagonalOptions>
) => Tensor = /* @__PURE__ */ composite(
  "linalg.diagonal",
  "A:tensor offset:int=0 dim1:int=-2 dim2:int=-1",
  diagonalOf,
);

/** A matrix of the powers of each number from 0 up, one row per number, with `N` columns (by default square). */
export const vander: (
  x: Tensor,
  ...rest: Arguments<[N: number | null], { N?: number | null }>
) => Tensor = /* @__PURE__ */ composite(
  "linalg.vander",
  "x:tensor N:int?=null",
  (x: Tensor, N: number | null) => {
    const numbers = x.ndim === 0 ? unsqueeze(x, 0) : x;
    const width = N ?? numbers.shape.at(-1) ?? 0;
    if (width < 2) {
      fail(
        "InvalidArgument",
        "linalg.vander",
        `N: expected a number of columns above 1, got ${width}.`,
      );
    }
    const column = unsqueeze(numbers, -1);
    const factors = expand(column, [...numbers.shape, width - 1]);
    return cat([onesLike(column), cumprod(factors, -1)], -1);
  },
);
