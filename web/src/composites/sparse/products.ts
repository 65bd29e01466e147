// Products of matrices of which at least one is sparse.

import { sparseSampled } from "../../generated/internal.js";
import { add, addmm as addProduct, mul, mm as multiply } from "../../generated/ops.js";
import { composite } from "../composite.js";

/**
 * The product of two matrices of which the first is sparse: dense if `mat2` is dense, else sparse. Gradients for a sparse matrix are
 * those of its values. eg.mm() is the same.
 */
export const mm = /* @__PURE__ */ composite("sparse.mm", "mat1:tensor mat2:tensor", (mat1, mat2) =>
  multiply(mat1, mat2),
);

/** `beta` times `input` plus `alpha` times the product of a sparse matrix and a dense one. */
export const addmm = /* @__PURE__ */ composite(
  "sparse.addmm",
  "input:tensor mat1:tensor mat2:tensor beta:number=1 alpha:number=1",
  (input, mat1, mat2, beta, alpha) => addProduct(input, mat1, mat2, beta, alpha),
);

/**
 * `beta` times the sparse matrix `input` plus `alpha` times the elements of the product of two dense matrices at its positions; nothing
 * else of the product is computed.
 */
export const sampledAddmm: typeof addmm = /* @__PURE__ */ composite(
  "sparse.sampledAddmm",
  "input:tensor mat1:tensor mat2:tensor beta:number=1 alpha:number=1",
  (input, mat1, mat2, beta, alpha) => {
    const product = mul(sparseSampled(input, mat1, mat2), alpha);
    return beta === 0 ? product : add(product, mul(input, beta));
  },
);
