// Determinants of complex matrices, and logarithms of determinants.

import {
  add,
  arange,
  argmax,
  detach,
  div,
  slogdet as engineSlogdet,
  eq,
  log,
  abs as magnitude,
  matmul,
  mul,
  narrow,
  neg,
  ones,
  select,
  sgn,
  sub,
  takeAlongDim,
  unsqueeze,
  where,
} from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { isComplex } from "../dtypes.js";
import { checkSquare } from "./matrices.js";

/**
 * `[sign, logabsdet]`: the determinants of square matrices, of which the sign is a number of magnitude 1, or 0, and the other the
 * logarithm of the magnitude.
 */
export const slogdet: (A: Tensor) => [sign: Tensor, logabsdet: Tensor] = /* @__PURE__ */ composite(
  "slogdet",
  "A:tensor",
  signAndSize,
);

/** The logarithm of the determinant of square matrices; NaN where it is negative. */
export const logdet: (A: Tensor) => Tensor = /* @__PURE__ */ composite(
  "logdet",
  "A:tensor",
  (A: Tensor) => {
    const [sign, size] = signAndSize(A);
    if (isComplex(A)) return add(log(sign), size);
    return where(eq(sign, -1), Number.NaN, size);
  },
);

function signAndSize(A: Tensor): [sign: Tensor, logabsdet: Tensor] {
  if (!isComplex(A)) return engineSlogdet(A);
  checkSquare("slogdet", A);
  const { dtype, device } = A;
  let sign = ones(A.shape.slice(0, -2), { dtype, device });
  let size = log(magnitude(sign));
  let rest = A;
  for (let n = A.shape.at(-1) ?? 0; n > 0; n--) {
    // The row whose first number is largest is exchanged with the first one and eliminates that number from the others.
    const chosen = argmax(magnitude(detach(select(rest, -1, 0))), -1, true);
    const row = takeAlongDim(rest, unsqueeze(chosen, -1), -2);
    const pivot = select(select(row, -1, 0), -1, 0);
    const signed = where(eq(select(chosen, -1, 0), 0), pivot, neg(pivot));
    sign = mul(sign, sgn(signed));
    size = add(size, log(magnitude(pivot)));
    const after = arange(1, n, 1, { dtype: "int64", device });
    const others = takeAlongDim(rest, unsqueeze(where(eq(after, chosen), 0, after), -1), -2);
    const divisor = where(eq(narrow(row, -1, 0, 1), 0), 1, narrow(row, -1, 0, 1));
    const factors = div(narrow(others, -1, 0, 1), divisor);
    rest = sub(narrow(others, -1, 1, n - 1), matmul(factors, narrow(row, -1, 1, n - 1)));
  }
  return [sign, size];
}
