// Functions of real numbers that have another formula in each interval.

import { toDtype } from "../../generated/internal.js";
import { add, div, fullLike, mul, sub, where } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { getDefaultDtype } from "../../tensor/default_dtype.js";
import { isComplex, isFloat } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import type { Rational } from "./coefficients.js";

/**
 * Returns a function of real numbers in float32 or float64. Integers become the default dtype; float16 and bfloat16 are computed in
 * float32, because the coefficients of the formulas are beyond their range.
 */
export function realFunction(name: string, f: (x: Tensor) => Tensor): (input: Tensor) => Tensor {
  return composite(name, "input:tensor", (input: Tensor) => {
    const { dtype } = input;
    if (isComplex(dtype))
      fail("DtypeMismatch", name, `input: expected real numbers, got ${dtype}.`);
    const own = isFloat(dtype) ? dtype : getDefaultDtype();
    return toDtype(f(toDtype(input, own === "float64" ? "float64" : "float32")), own);
  });
}

/** Returns f(x) where a condition holds, and g(x) elsewhere; neither sees the other's numbers, so that derivatives are finite. */
export function either(
  condition: Tensor,
  x: Tensor,
  f: (x: Tensor) => Tensor,
  g: (x: Tensor) => Tensor,
): Tensor {
  return where(condition, f(where(condition, x, kNear)), g(where(condition, kFar, x)));
}

// Numbers that are in the domain of every piece, and of every piece far from 0.
const kNear = 1;
const kFar = 10;

/** Returns the value of a polynomial, whose highest coefficient comes first. */
export function power(coefficients: readonly number[], z: Tensor): Tensor {
  const [first = 0, second = 0, ...others] = coefficients;
  return others.reduce((sum, other) => add(mul(sum, z), other), add(mul(z, first), second));
}

/** Returns the value of a rational function. */
export function ratio([numerator, denominator]: Rational, z: Tensor): Tensor {
  return div(power(numerator, z), power(denominator, z));
}

/** Returns the value of a series of Chebyshev polynomials of y / 2, the highest degree first; the last coefficient counts by half. */
export function chebyshev(series: readonly number[], y: Tensor): Tensor {
  const [first = 0, ...others] = series;
  let [before, last, value] = [fullLike(y, 0), fullLike(y, 0), fullLike(y, first)];
  for (const other of others) {
    [before, last] = [last, value];
    value = add(sub(mul(y, last), before), other);
  }
  return mul(sub(value, before), 0.5);
}
