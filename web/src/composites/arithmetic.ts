// Elementwise functions that are composed of other elementwise functions.

import type { Operand } from "../dispatch/types.js";
import { toDtype } from "../generated/internal.js";
import {
  abs,
  add,
  copysign,
  div,
  eq,
  exp2,
  expandAs,
  floor,
  ge,
  gt,
  isfinite,
  isnan,
  lgamma,
  log2,
  logicalAnd,
  lt,
  mul,
  ne,
  neg,
  onesLike,
  pow,
  sub,
  sum,
  trunc,
  unsqueeze,
  where,
} from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import { type Complex, type DType, isComplex, isComplexNumber, isFloat } from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { asTensors, floatTypeOf, numbersLike } from "./constants.js";
import { listOf } from "./shapes.js";

/** Elementwise quotient, as div() without a rounding mode. */
export const trueDivide = /* @__PURE__ */ composite(
  "trueDivide",
  "input:operand other:operand",
  (input, other) => div(input, other),
);

/** `other` minus `alpha` times `input`: 1 - x is rsub(x, 1). */
export const rsub = /* @__PURE__ */ composite(
  "rsub",
  "input:operand other:operand alpha:any=1",
  (input, other, alpha: number | Complex) => sub(other, input, { alpha }),
);

/** `input` to the power of `exponent`, computed in float64, which WebGPU does not have, or in complex128 if one is complex. */
export const floatPower = /* @__PURE__ */ composite(
  "floatPower",
  "input:operand exponent:operand",
  (input, exponent) => {
    const dtype = [input, exponent].some(hasComplex) ? "complex128" : "float64";
    return pow(inDtype(input, dtype), inDtype(exponent, dtype));
  },
);

function hasComplex(operand: Operand): boolean {
  return operand instanceof Tensor ? isComplex(operand.dtype) : isComplexNumber(operand);
}

function inDtype(operand: Operand, dtype: DType): Operand {
  return operand instanceof Tensor ? toDtype(operand, dtype) : operand;
}

/** input * 2 ** other. */
export const ldexp = /* @__PURE__ */ composite(
  "ldexp",
  "input:operand other:operand",
  (input, other) => {
    const [mantissa, exponent] = asTensors(input, other);
    return mul(mantissa, exp2(exponent));
  },
);

/** Mantissa and exponent: `input` is mantissa * 2 ** exponent, where 0.5 <= |mantissa| < 1 and the exponent is an int32. */
export const frexp = /* @__PURE__ */ composite(
  "frexp",
  "input:tensor",
  (input): [mantissa: Tensor, exponent: Tensor] => {
    if (!isFloat(input.dtype)) {
      fail("DtypeMismatch", "frexp", `input: expected float32 or float64, got ${input.dtype}.`);
    }
    const size = abs(input.detach());
    const hasExponent = logicalAnd(isfinite(size), ne(size, 0));
    const normal = where(hasExponent, size, 1);
    // The logarithm rounds, so it may be off by one.
    const near = add(floor(log2(normal)), 1);
    const rest = scaled(normal, neg(near));
    const exponent = where(
      hasExponent,
      sub(add(near, ge(rest, 1)), toDtype(lt(rest, 0.5), input.dtype)),
      0,
    );
    return [scaled(input, neg(exponent)), toDtype(exponent, "int32")];
  },
);

// Multiplies by a power of two in two steps, so that neither factor exceeds the range of the dtype.
function scaled(value: Tensor, exponent: Tensor): Tensor {
  const half = trunc(div(exponent, 2));
  return mul(mul(value, exp2(half)), exp2(sub(exponent, half)));
}

// The integers with which the bits of floats are counted.
const kBitsOf: Readonly<Partial<Record<DType, DType>>> = {
  float16: "int16",
  bfloat16: "int16",
  float32: "int32",
  float64: "int64",
};

/** The next number of the dtype from `input` towards `other`, or `other` where both are equal. It has no gradient. */
export const nextafter = /* @__PURE__ */ composite(
  "nextafter",
  "input:operand other:operand",
  (input, other) => {
    const [a, b] = asTensors(input, other);
    // The sum has the dtype and the shape of the result, and is NaN where an operand is.
    const both = add(a.detach(), b.detach());
    const { dtype } = both;
    const bits = kBitsOf[dtype];
    if (bits === undefined) {
      fail("DtypeMismatch", "nextafter", `expected floating-point operands, got ${dtype}.`);
    }
    const from = expandAs(toDtype(a.detach(), dtype), both).contiguous();
    const to = toDtype(b.detach(), dtype);
    // Away from zero, the bits of a number count up.
    const isAway = eq(gt(to, from), gt(from, 0));
    const step = toDtype(where(isAway, 1, -1), bits);
    const neighbor = add(from.view(bits), step).view(dtype);
    const smallest = copysign(onesLike(from.view(bits)).view(dtype), to);
    const next = where(eq(from, 0), smallest, neighbor);
    return where(isnan(both), both, where(eq(from, to), to, next));
  },
);

/** Logarithm of the multivariate gamma function of `p` dimensions. */
export const mvlgamma = /* @__PURE__ */ composite("mvlgamma", "input:tensor p:int", logMultigamma);

/** Alias of mvlgamma(). */
export const multigammaln: typeof mvlgamma = /* @__PURE__ */ composite(
  "multigammaln",
  "input:tensor p:int",
  logMultigamma,
);

function logMultigamma(input: Tensor, p: number): Tensor {
  if (p < 1) fail("InvalidArgument", "mvlgamma", `p: expected a number of at least 1, got ${p}.`);
  const halves = numbersLike(
    input,
    listOf("mvlgamma", p, (i) => -i / 2),
  );
  const gammas = lgamma(add(unsqueeze(input, -1), halves));
  return add(sum(gammas, -1), (p * (p - 1) * Math.log(Math.PI)) / 4);
}

const kDegree = Math.PI / 180;

/** Converts angles from degrees to radians. */
export const deg2rad = /* @__PURE__ */ composite("deg2rad", "input:tensor", (input) =>
  rescaled("deg2rad", input, kDegree),
);

/** Converts angles from radians to degrees. */
export const rad2deg = /* @__PURE__ */ composite("rad2deg", "input:tensor", (input) =>
  rescaled("rad2deg", input, 1 / kDegree),
);

function rescaled(name: string, input: Tensor, factor: number): Tensor {
  const { dtype } = input;
  if (isComplex(dtype))
    fail("DtypeMismatch", name, `not supported for complex tensors, got ${dtype}.`);
  return mul(toDtype(input, floatTypeOf(input)), factor);
}
