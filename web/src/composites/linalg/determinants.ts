// Logarithms of determinants.

import { add, eq, log, slogdet, where } from "../../generated/ops.js";
import { composite } from "../composite.js";
import { isComplex } from "../dtypes.js";

/** The logarithm of the determinant of square matrices; NaN if the determinant is negative. */
export const logdet = /* @__PURE__ */ composite("logdet", "A:tensor", (A) => {
  const [sign, size] = slogdet(A);
  if (isComplex(A)) return add(log(sign), size);
  return where(eq(sign, -1), Number.NaN, size);
});
