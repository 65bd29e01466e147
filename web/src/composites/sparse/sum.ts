import type { Ints } from "../../dispatch/types.js";
import { sum as sumOf } from "../../generated/ops.js";
import type { DType } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";

/** The sum of a sparse tensor over `dim`, or of all elements: sparse if sparse dimensions are left. eg.sum() is the same. */
export const sum: {
  (input: Tensor, options?: { dim?: Ints | null; dtype?: DType | null }): Tensor;
  (input: Tensor, dim: Ints | null, options?: { dtype?: DType | null }): Tensor;
  (input: Tensor, dim: Ints | null, dtype: DType | null): Tensor;
} = /* @__PURE__ */ composite(
  "sparse.sum",
  "input:tensor dim:ints?=null dtype:dtype?=null",
  (input: Tensor, dim: Ints | null, dtype: DType | null) => sumOf(input, { dim, dtype }),
);
