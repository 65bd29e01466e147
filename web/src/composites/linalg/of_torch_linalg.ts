// Functions of torch.linalg whose namesakes in torch have another meaning or other defaults.

import {
  cat,
  cumprod,
  diagonal as diagonalOf,
  expand,
  onesLike,
  unsqueeze,
} from "../../generated/ops.js";
import { fail, refusal } from "../../runtime/errors/errors.js";
import { composite } from "../composite.js";
import { matrixNorm, type Order, vectorNorm } from "./norms.js";

/**
 * The norm of vectors along one `dim`, or of matrices in two of them. Without `dim` but with an `ord`, it is the norm of a
 * matrix (matrixNorm()) or vector (vectorNorm()); without both it is the 2-norm of all elements.
 */
export const norm = /* @__PURE__ */ composite(
  "linalg.norm",
  "A:tensor ord:any=null dim:ints?=null keepdim:bool=false dtype:dtype?=null",
  (A, ord: Order | null, dim, keepdim, dtype) => {
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
      return matrixNorm(A, ord, dims ?? [0, 1], keepdim, dtype);
    }
    if (ord !== null && typeof ord !== "number") {
      const expected = "a number for the norm of vectors";
      fail("InvalidArgument", "linalg.norm", refusal("ord", expected, ord));
    }
    return vectorNorm(A, ord ?? 2, dims, keepdim, dtype);
  },
);

/** The diagonals of matrices in the dimensions `dim1` and `dim2`, by default the last two; a view. */
export const diagonal = /* @__PURE__ */ composite(
  "linalg.diagonal",
  "A:tensor offset:int=0 dim1:int=-2 dim2:int=-1",
  (A, offset, dim1, dim2) => diagonalOf(A, offset, dim1, dim2),
);

/** A matrix of the powers of each number from 0 up, one row per number, with `N` columns (by default square). */
export const vander = /* @__PURE__ */ composite("linalg.vander", "x:tensor N:int?=null", (x, N) => {
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
});
