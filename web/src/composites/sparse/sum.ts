import { sum as sumOf } from "../../generated/ops.js";
import { composite } from "../composite.js";

/** The sum of a sparse tensor over `dim`, or of all elements: sparse if sparse dimensions are left. eg.sum() is the same. */
export const sum = /* @__PURE__ */ composite(
  "sparse.sum",
  "input:tensor dim:ints?=null dtype:dtype?=null",
  (input, dim, dtype) => sumOf(input, { dim, dtype }),
);
