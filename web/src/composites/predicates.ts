// Tests of elements.

import { eq, full, imag } from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import { isComplex } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";

/** Whether each element is positive infinity. */
export const isposinf = /* @__PURE__ */ composite("isposinf", "input:tensor", (input) =>
  isInfinity("isposinf", input, Infinity),
);

/** Whether each element is negative infinity. */
export const isneginf = /* @__PURE__ */ composite("isneginf", "input:tensor", (input) =>
  isInfinity("isneginf", input, -Infinity),
);

function isInfinity(name: string, input: Tensor, value: number): Tensor {
  const { dtype } = input;
  if (isComplex(dtype))
    fail("DtypeMismatch", name, `not supported for complex tensors, got ${dtype}.`);
  return eq(input, value);
}

/** Whether each element has no imaginary part. */
export const isreal = /* @__PURE__ */ composite("isreal", "input:tensor", (input) =>
  isComplex(input.dtype)
    ? eq(imag(input), 0)
    : full(input.shape, true, { dtype: "bool", device: input.device }),
);
