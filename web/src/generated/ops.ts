// Written by scripts/generating/generate_ops.mjs from op_table.json. Do not edit.

import { define, defineFactory, defineInPlace } from "../dispatch/define.js";
import { withGenerator } from "../dispatch/with_generator.js";
import { sameSized } from "../dispatch/same_size.js";
import type { GeneratorOption } from "../arguments/generator.js";
import type { Ints, Operand, OutputSize, Scalar } from "../dispatch/types.js";
import type { Complex, DType } from "../tensor/dtype.js";
import type { TensorOptions } from "../tensor/factory_options.js";
import type { Tensor } from "../tensor/tensor.js";

/** input + alpha * other, with broadcasting. */
export const add: {
  (input: Operand, other: Operand, alpha?: number | Complex): Tensor;
  (input: Operand, other: Operand, options: { alpha?: number | Complex }): Tensor;
} = define("add");

/** Like add(), but writes the result into input and returns it. */
export const add_: {
  (input: Tensor, other: Operand, alpha?: number | Complex): Tensor;
  (input: Tensor, other: Operand, options: { alpha?: number | Complex }): Tensor;
} = defineInPlace("add");

/** input - alpha * other, with broadcasting. */
export const sub: {
  (input: Operand, other: Operand, alpha?: number | Complex): Tensor;
  (input: Operand, other: Operand, options: { alpha?: number | Complex }): Tensor;
} = define("sub");

/** Like sub(), but writes the result into input and returns it. */
export const sub_: {
  (input: Tensor, other: Operand, alpha?: number | Complex): Tensor;
  (input: Tensor, other: Operand, options: { alpha?: number | Complex }): Tensor;
} = defineInPlace("sub");

/** Elementwise product, with broadcasting. */
export const mul: {
  (input: Operand, other: Operand): Tensor;
} = define("mul");

/** Like mul(), but writes the result into input and returns it. */
export const mul_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("mul");

/** Elementwise quotient; integers are divided as floats. */
export const div: {
  (input: Operand, other: Operand, roundingMode?: null | "floor" | "trunc"): Tensor;
  (input: Operand, other: Operand, options: { roundingMode?: null | "floor" | "trunc" }): Tensor;
} = define("div");

/** Like div(), but writes the result into input and returns it. */
export const div_: {
  (input: Tensor, other: Operand, roundingMode?: null | "floor" | "trunc"): Tensor;
  (input: Tensor, other: Operand, options: { roundingMode?: null | "floor" | "trunc" }): Tensor;
} = defineInPlace("div");

/** The negative of every element. */
export const neg: {
  (input: Tensor): Tensor;
} = define("neg");

/** Like neg(), but writes the result into input and returns it. */
export const neg_: {
  (input: Tensor): Tensor;
} = defineInPlace("neg");

/** 1 / x. */
export const reciprocal: {
  (input: Tensor): Tensor;
} = define("reciprocal");

/** Like reciprocal(), but writes the result into input and returns it. */
export const reciprocal_: {
  (input: Tensor): Tensor;
} = defineInPlace("reciprocal");

/** x * x. */
export const square: {
  (input: Tensor): Tensor;
} = define("square");

/** Like square(), but writes the result into input and returns it. */
export const square_: {
  (input: Tensor): Tensor;
} = defineInPlace("square");

/** Remainder of division, with the sign of input. */
export const fmod: {
  (input: Operand, other: Operand): Tensor;
} = define("fmod");

/** Like fmod(), but writes the result into input and returns it. */
export const fmod_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("fmod");

/** Remainder of division, with the sign of other. */
export const remainder: {
  (input: Operand, other: Operand): Tensor;
} = define("remainder");

/** Like remainder(), but writes the result into input and returns it. */
export const remainder_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("remainder");

/** Quotient rounded down to an integer. */
export const floorDivide: {
  (input: Operand, other: Operand): Tensor;
} = define("floor_divide");

/** Like floorDivide(), but writes the result into input and returns it. */
export const floorDivide_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("floor_divide");

/** input + weight * (end - input). */
export const lerp: {
  (input: Operand, end: Operand, weight: Operand): Tensor;
} = define("lerp");

/** Like lerp(), but writes the result into input and returns it. */
export const lerp_: {
  (input: Tensor, end: Operand, weight: Operand): Tensor;
} = defineInPlace("lerp");

/** input + value * tensor1 * tensor2. */
export const addcmul: {
  (input: Operand, tensor1: Operand, tensor2: Operand, value?: number | Complex): Tensor;
  (input: Operand, tensor1: Operand, tensor2: Operand, options: { value?: number | Complex }): Tensor;
} = define("addcmul");

/** Like addcmul(), but writes the result into input and returns it. */
export const addcmul_: {
  (input: Tensor, tensor1: Operand, tensor2: Operand, value?: number | Complex): Tensor;
  (input: Tensor, tensor1: Operand, tensor2: Operand, options: { value?: number | Complex }): Tensor;
} = defineInPlace("addcmul");

/** input + value * tensor1 / tensor2. */
export const addcdiv: {
  (input: Operand, tensor1: Operand, tensor2: Operand, value?: number | Complex): Tensor;
  (input: Operand, tensor1: Operand, tensor2: Operand, options: { value?: number | Complex }): Tensor;
} = define("addcdiv");

/** Like addcdiv(), but writes the result into input and returns it. */
export const addcdiv_: {
  (input: Tensor, tensor1: Operand, tensor2: Operand, value?: number | Complex): Tensor;
  (input: Tensor, tensor1: Operand, tensor2: Operand, options: { value?: number | Complex }): Tensor;
} = defineInPlace("addcdiv");

/** True where the operands are equal. */
export const eq: {
  (input: Operand, other: Operand): Tensor;
} = define("eq");

/** Like eq(), but writes the result into input and returns it. */
export const eq_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("eq");

/** True where the operands differ. */
export const ne: {
  (input: Operand, other: Operand): Tensor;
} = define("ne");

/** Like ne(), but writes the result into input and returns it. */
export const ne_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("ne");

/** True where input is less than other. */
export const lt: {
  (input: Operand, other: Operand): Tensor;
} = define("lt");

/** Like lt(), but writes the result into input and returns it. */
export const lt_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("lt");

/** True where input is less than or equal to other. */
export const le: {
  (input: Operand, other: Operand): Tensor;
} = define("le");

/** Like le(), but writes the result into input and returns it. */
export const le_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("le");

/** True where input is greater than other. */
export const gt: {
  (input: Operand, other: Operand): Tensor;
} = define("gt");

/** Like gt(), but writes the result into input and returns it. */
export const gt_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("gt");

/** True where input is greater than or equal to other. */
export const ge: {
  (input: Operand, other: Operand): Tensor;
} = define("ge");

/** Like ge(), but writes the result into input and returns it. */
export const ge_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("ge");

/** True where both operands are nonzero. */
export const logicalAnd: {
  (input: Operand, other: Operand): Tensor;
} = define("logical_and");

/** Like logicalAnd(), but writes the result into input and returns it. */
export const logicalAnd_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("logical_and");

/** True where at least one operand is nonzero. */
export const logicalOr: {
  (input: Operand, other: Operand): Tensor;
} = define("logical_or");

/** Like logicalOr(), but writes the result into input and returns it. */
export const logicalOr_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("logical_or");

/** True where exactly one operand is nonzero. */
export const logicalXor: {
  (input: Operand, other: Operand): Tensor;
} = define("logical_xor");

/** Like logicalXor(), but writes the result into input and returns it. */
export const logicalXor_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("logical_xor");

/** True where input is zero. */
export const logicalNot: {
  (input: Tensor): Tensor;
} = define("logical_not");

/** Like logicalNot(), but writes the result into input and returns it. */
export const logicalNot_: {
  (input: Tensor): Tensor;
} = defineInPlace("logical_not");

/** True for negative numbers, including -0. */
export const signbit: {
  (input: Tensor): Tensor;
} = define("signbit");

/** True where input is NaN. */
export const isnan: {
  (input: Tensor): Tensor;
} = define("isnan");

/** True where input is infinite. */
export const isinf: {
  (input: Tensor): Tensor;
} = define("isinf");

/** True where input is neither infinite nor NaN. */
export const isfinite: {
  (input: Tensor): Tensor;
} = define("isfinite");

/** input where condition is true, other elsewhere. */
export const where: {
  (condition: Operand, input: Operand, other: Operand): Tensor;
} = define("where");

/** value where mask is true, input elsewhere. */
export const maskedFill: {
  (input: Operand, mask: Operand, value: Operand): Tensor;
} = define("masked_fill");

/** Like maskedFill(), but writes the result into input and returns it. */
export const maskedFill_: {
  (input: Tensor, mask: Operand, value: Operand): Tensor;
} = defineInPlace("masked_fill");

/** The larger of two operands; NaN if either is NaN. */
export const maximum: {
  (input: Operand, other: Operand): Tensor;
} = define("maximum");

/** Like maximum(), but writes the result into input and returns it. */
export const maximum_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("maximum");

/** The smaller of two operands; NaN if either is NaN. */
export const minimum: {
  (input: Operand, other: Operand): Tensor;
} = define("minimum");

/** Like minimum(), but writes the result into input and returns it. */
export const minimum_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("minimum");

/** The larger of two operands; a number is preferred to NaN. */
export const fmax: {
  (input: Operand, other: Operand): Tensor;
} = define("fmax");

/** Like fmax(), but writes the result into input and returns it. */
export const fmax_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("fmax");

/** The smaller of two operands; a number is preferred to NaN. */
export const fmin: {
  (input: Operand, other: Operand): Tensor;
} = define("fmin");

/** Like fmin(), but writes the result into input and returns it. */
export const fmin_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("fmin");

/** input clamped to [min, max]; max if min is greater than max. */
export const clamp: {
  (input: Tensor, min?: Operand | null, max?: Operand | null): Tensor;
  (input: Tensor, options: { min?: Operand | null; max?: Operand | null }): Tensor;
  (input: Tensor, min: Operand | null, options: { max?: Operand | null }): Tensor;
} = define("clamp");

/** Like clamp(), but writes the result into input and returns it. */
export const clamp_: {
  (input: Tensor, min?: Operand | null, max?: Operand | null): Tensor;
  (input: Tensor, options: { min?: Operand | null; max?: Operand | null }): Tensor;
  (input: Tensor, min: Operand | null, options: { max?: Operand | null }): Tensor;
} = defineInPlace("clamp");

/** input, but at least min. */
export const clampMin: {
  (input: Operand, min: Operand): Tensor;
} = define("clamp_min");

/** Like clampMin(), but writes the result into input and returns it. */
export const clampMin_: {
  (input: Tensor, min: Operand): Tensor;
} = defineInPlace("clamp_min");

/** input, but at most max. */
export const clampMax: {
  (input: Operand, max: Operand): Tensor;
} = define("clamp_max");

/** Like clampMax(), but writes the result into input and returns it. */
export const clampMax_: {
  (input: Tensor, max: Operand): Tensor;
} = defineInPlace("clamp_max");

/** 0 for negative numbers, 1 for positive ones, values at 0. */
export const heaviside: {
  (input: Operand, values: Operand): Tensor;
} = define("heaviside");

/** Like heaviside(), but writes the result into input and returns it. */
export const heaviside_: {
  (input: Tensor, values: Operand): Tensor;
} = defineInPlace("heaviside");

/** Replaces NaN and infinities; by default with 0 and the largest numbers. */
export const nanToNum: {
  (input: Tensor, nan?: number | null, posinf?: number | null, neginf?: number | null): Tensor;
  (input: Tensor, options: { nan?: number | null; posinf?: number | null; neginf?: number | null }): Tensor;
  (input: Tensor, nan: number | null, options: { posinf?: number | null; neginf?: number | null }): Tensor;
  (input: Tensor, nan: number | null, posinf: number | null, options: { neginf?: number | null }): Tensor;
} = define("nan_to_num");

/** Like nanToNum(), but writes the result into input and returns it. */
export const nanToNum_: {
  (input: Tensor, nan?: number | null, posinf?: number | null, neginf?: number | null): Tensor;
  (input: Tensor, options: { nan?: number | null; posinf?: number | null; neginf?: number | null }): Tensor;
  (input: Tensor, nan: number | null, options: { posinf?: number | null; neginf?: number | null }): Tensor;
  (input: Tensor, nan: number | null, posinf: number | null, options: { neginf?: number | null }): Tensor;
} = defineInPlace("nan_to_num");

/** The magnitude of input with the sign of other. */
export const copysign: {
  (input: Operand, other: Operand): Tensor;
} = define("copysign");

/** Like copysign(), but writes the result into input and returns it. */
export const copysign_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("copysign");

/** Magnitude of every element. */
export const abs: {
  (input: Tensor): Tensor;
} = define("abs");

/** Like abs(), but writes the result into input and returns it. */
export const abs_: {
  (input: Tensor): Tensor;
} = defineInPlace("abs");

/** The sign of every element: -1, 0 or 1. */
export const sign: {
  (input: Tensor): Tensor;
} = define("sign");

/** Like sign(), but writes the result into input and returns it. */
export const sign_: {
  (input: Tensor): Tensor;
} = defineInPlace("sign");

/** sign; for complex numbers, the number divided by its magnitude. */
export const sgn: {
  (input: Tensor): Tensor;
} = define("sgn");

/** Like sgn(), but writes the result into input and returns it. */
export const sgn_: {
  (input: Tensor): Tensor;
} = defineInPlace("sgn");

/** The largest integer that is at most the element. */
export const floor: {
  (input: Tensor): Tensor;
} = define("floor");

/** Like floor(), but writes the result into input and returns it. */
export const floor_: {
  (input: Tensor): Tensor;
} = defineInPlace("floor");

/** The smallest integer that is at least the element. */
export const ceil: {
  (input: Tensor): Tensor;
} = define("ceil");

/** Like ceil(), but writes the result into input and returns it. */
export const ceil_: {
  (input: Tensor): Tensor;
} = defineInPlace("ceil");

/** Rounded to the given number of decimals; halves are rounded to even. */
export const round: {
  (input: Tensor, decimals?: number): Tensor;
  (input: Tensor, options: { decimals?: number }): Tensor;
} = define("round");

/** Like round(), but writes the result into input and returns it. */
export const round_: {
  (input: Tensor, decimals?: number): Tensor;
  (input: Tensor, options: { decimals?: number }): Tensor;
} = defineInPlace("round");

/** Rounded to an integer towards zero. */
export const trunc: {
  (input: Tensor): Tensor;
} = define("trunc");

/** Like trunc(), but writes the result into input and returns it. */
export const trunc_: {
  (input: Tensor): Tensor;
} = defineInPlace("trunc");

/** The fractional part: x - trunc(x). */
export const frac: {
  (input: Tensor): Tensor;
} = define("frac");

/** Like frac(), but writes the result into input and returns it. */
export const frac_: {
  (input: Tensor): Tensor;
} = defineInPlace("frac");

/** e to the power of every element. */
export const exp: {
  (input: Tensor): Tensor;
} = define("exp");

/** Like exp(), but writes the result into input and returns it. */
export const exp_: {
  (input: Tensor): Tensor;
} = defineInPlace("exp");

/** 2 to the power of every element. */
export const exp2: {
  (input: Tensor): Tensor;
} = define("exp2");

/** Like exp2(), but writes the result into input and returns it. */
export const exp2_: {
  (input: Tensor): Tensor;
} = defineInPlace("exp2");

/** exp(x) - 1, accurate near 0. */
export const expm1: {
  (input: Tensor): Tensor;
} = define("expm1");

/** Like expm1(), but writes the result into input and returns it. */
export const expm1_: {
  (input: Tensor): Tensor;
} = defineInPlace("expm1");

/** Natural logarithm of every element. */
export const log: {
  (input: Tensor): Tensor;
} = define("log");

/** Like log(), but writes the result into input and returns it. */
export const log_: {
  (input: Tensor): Tensor;
} = defineInPlace("log");

/** Logarithm of every element to base 2. */
export const log2: {
  (input: Tensor): Tensor;
} = define("log2");

/** Like log2(), but writes the result into input and returns it. */
export const log2_: {
  (input: Tensor): Tensor;
} = defineInPlace("log2");

/** Logarithm of every element to base 10. */
export const log10: {
  (input: Tensor): Tensor;
} = define("log10");

/** Like log10(), but writes the result into input and returns it. */
export const log10_: {
  (input: Tensor): Tensor;
} = defineInPlace("log10");

/** log(1 + x), accurate near 0. */
export const log1p: {
  (input: Tensor): Tensor;
} = define("log1p");

/** Like log1p(), but writes the result into input and returns it. */
export const log1p_: {
  (input: Tensor): Tensor;
} = defineInPlace("log1p");

/** Square root of every element. */
export const sqrt: {
  (input: Tensor): Tensor;
} = define("sqrt");

/** Like sqrt(), but writes the result into input and returns it. */
export const sqrt_: {
  (input: Tensor): Tensor;
} = defineInPlace("sqrt");

/** 1 / sqrt(x). */
export const rsqrt: {
  (input: Tensor): Tensor;
} = define("rsqrt");

/** Like rsqrt(), but writes the result into input and returns it. */
export const rsqrt_: {
  (input: Tensor): Tensor;
} = defineInPlace("rsqrt");

/** input to the power of exponent. */
export const pow: {
  (input: Operand, exponent: Operand): Tensor;
} = define("pow");

/** Like pow(), but writes the result into input and returns it. */
export const pow_: {
  (input: Tensor, exponent: Operand): Tensor;
} = defineInPlace("pow");

/** log(exp(input) + exp(other)), without overflow. */
export const logaddexp: {
  (input: Operand, other: Operand): Tensor;
} = define("logaddexp");

/** Like logaddexp(), but writes the result into input and returns it. */
export const logaddexp_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("logaddexp");

/** log2(2^input + 2^other), without overflow. */
export const logaddexp2: {
  (input: Operand, other: Operand): Tensor;
} = define("logaddexp2");

/** Like logaddexp2(), but writes the result into input and returns it. */
export const logaddexp2_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("logaddexp2");

/** input * log(other); 0 where input is 0, unless other is NaN. */
export const xlogy: {
  (input: Operand, other: Operand): Tensor;
} = define("xlogy");

/** Like xlogy(), but writes the result into input and returns it. */
export const xlogy_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("xlogy");

/** input * log(1 + other); 0 where input is 0, unless other is NaN. */
export const xlog1py: {
  (input: Operand, other: Operand): Tensor;
} = define("xlog1py");

/** Like xlog1py(), but writes the result into input and returns it. */
export const xlog1py_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("xlog1py");

/** -x log(x), the terms of an entropy; 0 at 0, -Infinity for negative x. */
export const entr: {
  (input: Tensor): Tensor;
} = define("entr");

/** Like entr(), but writes the result into input and returns it. */
export const entr_: {
  (input: Tensor): Tensor;
} = defineInPlace("entr");

/** log(x / (1 - x)); x is first clamped to [eps, 1 - eps] if eps is given. */
export const logit: {
  (input: Tensor, eps?: number): Tensor;
  (input: Tensor, options: { eps?: number }): Tensor;
} = define("logit");

/** Like logit(), but writes the result into input and returns it. */
export const logit_: {
  (input: Tensor, eps?: number): Tensor;
  (input: Tensor, options: { eps?: number }): Tensor;
} = defineInPlace("logit");

/** Sine of every element, in radians. */
export const sin: {
  (input: Tensor): Tensor;
} = define("sin");

/** Like sin(), but writes the result into input and returns it. */
export const sin_: {
  (input: Tensor): Tensor;
} = defineInPlace("sin");

/** Cosine of every element, in radians. */
export const cos: {
  (input: Tensor): Tensor;
} = define("cos");

/** Like cos(), but writes the result into input and returns it. */
export const cos_: {
  (input: Tensor): Tensor;
} = defineInPlace("cos");

/** Tangent of every element, in radians. */
export const tan: {
  (input: Tensor): Tensor;
} = define("tan");

/** Like tan(), but writes the result into input and returns it. */
export const tan_: {
  (input: Tensor): Tensor;
} = defineInPlace("tan");

/** Angle in [-pi/2, pi/2] whose sine is the element. */
export const asin: {
  (input: Tensor): Tensor;
} = define("asin");

/** Like asin(), but writes the result into input and returns it. */
export const asin_: {
  (input: Tensor): Tensor;
} = defineInPlace("asin");

/** Angle in [0, pi] whose cosine is the element. */
export const acos: {
  (input: Tensor): Tensor;
} = define("acos");

/** Like acos(), but writes the result into input and returns it. */
export const acos_: {
  (input: Tensor): Tensor;
} = defineInPlace("acos");

/** Angle in [-pi/2, pi/2] whose tangent is the element. */
export const atan: {
  (input: Tensor): Tensor;
} = define("atan");

/** Like atan(), but writes the result into input and returns it. */
export const atan_: {
  (input: Tensor): Tensor;
} = defineInPlace("atan");

/** Angle of the point (other, input), in [-pi, pi]. */
export const atan2: {
  (input: Operand, other: Operand): Tensor;
} = define("atan2");

/** Like atan2(), but writes the result into input and returns it. */
export const atan2_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("atan2");

/** sqrt(input^2 + other^2), without overflow. */
export const hypot: {
  (input: Operand, other: Operand): Tensor;
} = define("hypot");

/** Like hypot(), but writes the result into input and returns it. */
export const hypot_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("hypot");

/** sin(pi x) / (pi x), and 1 at 0. */
export const sinc: {
  (input: Tensor): Tensor;
} = define("sinc");

/** Like sinc(), but writes the result into input and returns it. */
export const sinc_: {
  (input: Tensor): Tensor;
} = defineInPlace("sinc");

/** Hyperbolic sine of every element. */
export const sinh: {
  (input: Tensor): Tensor;
} = define("sinh");

/** Like sinh(), but writes the result into input and returns it. */
export const sinh_: {
  (input: Tensor): Tensor;
} = defineInPlace("sinh");

/** Hyperbolic cosine of every element. */
export const cosh: {
  (input: Tensor): Tensor;
} = define("cosh");

/** Like cosh(), but writes the result into input and returns it. */
export const cosh_: {
  (input: Tensor): Tensor;
} = defineInPlace("cosh");

/** Hyperbolic tangent of every element. */
export const tanh: {
  (input: Tensor): Tensor;
} = define("tanh");

/** Like tanh(), but writes the result into input and returns it. */
export const tanh_: {
  (input: Tensor): Tensor;
} = defineInPlace("tanh");

/** Inverse hyperbolic sine of every element. */
export const asinh: {
  (input: Tensor): Tensor;
} = define("asinh");

/** Like asinh(), but writes the result into input and returns it. */
export const asinh_: {
  (input: Tensor): Tensor;
} = defineInPlace("asinh");

/** Inverse hyperbolic cosine of every element. */
export const acosh: {
  (input: Tensor): Tensor;
} = define("acosh");

/** Like acosh(), but writes the result into input and returns it. */
export const acosh_: {
  (input: Tensor): Tensor;
} = defineInPlace("acosh");

/** Inverse hyperbolic tangent of every element. */
export const atanh: {
  (input: Tensor): Tensor;
} = define("atanh");

/** Like atanh(), but writes the result into input and returns it. */
export const atanh_: {
  (input: Tensor): Tensor;
} = defineInPlace("atanh");

/** Error function of every element. */
export const erf: {
  (input: Tensor): Tensor;
} = define("erf");

/** Like erf(), but writes the result into input and returns it. */
export const erf_: {
  (input: Tensor): Tensor;
} = defineInPlace("erf");

/** 1 - erf(x), accurate also where the result is tiny. */
export const erfc: {
  (input: Tensor): Tensor;
} = define("erfc");

/** Like erfc(), but writes the result into input and returns it. */
export const erfc_: {
  (input: Tensor): Tensor;
} = defineInPlace("erfc");

/** exp(x^2) erfc(x), accurate also where erfc(x) underflows to 0. */
export const erfcx: {
  (input: Tensor): Tensor;
} = define("erfcx");

/** Like erfcx(), but writes the result into input and returns it. */
export const erfcx_: {
  (input: Tensor): Tensor;
} = defineInPlace("erfcx");

/** Cumulative distribution function of the standard normal distribution. */
export const ndtr: {
  (input: Tensor): Tensor;
} = define("ndtr");

/** Like ndtr(), but writes the result into input and returns it. */
export const ndtr_: {
  (input: Tensor): Tensor;
} = defineInPlace("ndtr");

/** Logarithm of ndtr, accurate also where ndtr is tiny. */
export const logNdtr: {
  (input: Tensor): Tensor;
} = define("log_ndtr");

/** Like logNdtr(), but writes the result into input and returns it. */
export const logNdtr_: {
  (input: Tensor): Tensor;
} = defineInPlace("log_ndtr");

/** Inverse of the error function. */
export const erfinv: {
  (input: Tensor): Tensor;
} = define("erfinv");

/** Like erfinv(), but writes the result into input and returns it. */
export const erfinv_: {
  (input: Tensor): Tensor;
} = defineInPlace("erfinv");

/** Inverse of ndtr, accurate in both tails. */
export const ndtri: {
  (input: Tensor): Tensor;
} = define("ndtri");

/** Like ndtri(), but writes the result into input and returns it. */
export const ndtri_: {
  (input: Tensor): Tensor;
} = defineInPlace("ndtri");

/** Logarithm of the magnitude of the gamma function. */
export const lgamma: {
  (input: Tensor): Tensor;
} = define("lgamma");

/** Like lgamma(), but writes the result into input and returns it. */
export const lgamma_: {
  (input: Tensor): Tensor;
} = defineInPlace("lgamma");

/** Derivative of lgamma. */
export const digamma: {
  (input: Tensor): Tensor;
} = define("digamma");

/** Like digamma(), but writes the result into input and returns it. */
export const digamma_: {
  (input: Tensor): Tensor;
} = defineInPlace("digamma");

/** The n-th derivative of digamma. */
export const polygamma: {
  (n: Operand, input: Operand): Tensor;
} = define("polygamma");

/** Hurwitz zeta function: the sum of (other + k)^-input over k >= 0. */
export const zeta: {
  (input: Operand, other: Operand): Tensor;
} = define("zeta");

/** Like zeta(), but writes the result into input and returns it. */
export const zeta_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("zeta");

/** Regularised lower incomplete gamma function of other, with shape input. */
export const gammainc: {
  (input: Operand, other: Operand): Tensor;
} = define("gammainc");

/** Like gammainc(), but writes the result into input and returns it. */
export const gammainc_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("gammainc");

/** 1 - gammainc, accurate also where the result is tiny. */
export const gammaincc: {
  (input: Operand, other: Operand): Tensor;
} = define("gammaincc");

/** Like gammaincc(), but writes the result into input and returns it. */
export const gammaincc_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("gammaincc");

/** exp(-|x|) times the modified Bessel function of order 0. */
export const i0e: {
  (input: Tensor): Tensor;
} = define("i0e");

/** Like i0e(), but writes the result into input and returns it. */
export const i0e_: {
  (input: Tensor): Tensor;
} = defineInPlace("i0e");

/** exp(-|x|) times the modified Bessel function of order 1. */
export const i1e: {
  (input: Tensor): Tensor;
} = define("i1e");

/** Like i1e(), but writes the result into input and returns it. */
export const i1e_: {
  (input: Tensor): Tensor;
} = defineInPlace("i1e");

/** Modified Bessel function I0 (first kind, order 0). */
export const i0: {
  (input: Tensor): Tensor;
} = define("i0");

/** Like i0(), but writes the result into input and returns it. */
export const i0_: {
  (input: Tensor): Tensor;
} = defineInPlace("i0");

/** Modified Bessel function I1 (first kind, order 1). */
export const i1: {
  (input: Tensor): Tensor;
} = define("i1");

/** Like i1(), but writes the result into input and returns it. */
export const i1_: {
  (input: Tensor): Tensor;
} = defineInPlace("i1");

/** Bitwise and of integers; logical and of booleans. */
export const bitwiseAnd: {
  (input: Operand, other: Operand): Tensor;
} = define("bitwise_and");

/** Like bitwiseAnd(), but writes the result into input and returns it. */
export const bitwiseAnd_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("bitwise_and");

/** Bitwise or of integers; logical or of booleans. */
export const bitwiseOr: {
  (input: Operand, other: Operand): Tensor;
} = define("bitwise_or");

/** Like bitwiseOr(), but writes the result into input and returns it. */
export const bitwiseOr_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("bitwise_or");

/** Bitwise exclusive or of integers; logical exclusive or of booleans. */
export const bitwiseXor: {
  (input: Operand, other: Operand): Tensor;
} = define("bitwise_xor");

/** Like bitwiseXor(), but writes the result into input and returns it. */
export const bitwiseXor_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("bitwise_xor");

/** Bitwise complement of integers; logical not of booleans. */
export const bitwiseNot: {
  (input: Tensor): Tensor;
} = define("bitwise_not");

/** Like bitwiseNot(), but writes the result into input and returns it. */
export const bitwiseNot_: {
  (input: Tensor): Tensor;
} = defineInPlace("bitwise_not");

/** input shifted left by other bits. */
export const bitwiseLeftShift: {
  (input: Operand, other: Operand): Tensor;
} = define("bitwise_left_shift");

/** Like bitwiseLeftShift(), but writes the result into input and returns it. */
export const bitwiseLeftShift_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("bitwise_left_shift");

/** input shifted right by other bits, preserving the sign. */
export const bitwiseRightShift: {
  (input: Operand, other: Operand): Tensor;
} = define("bitwise_right_shift");

/** Like bitwiseRightShift(), but writes the result into input and returns it. */
export const bitwiseRightShift_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("bitwise_right_shift");

/** The greatest common divisor, never negative. */
export const gcd: {
  (input: Operand, other: Operand): Tensor;
} = define("gcd");

/** Like gcd(), but writes the result into input and returns it. */
export const gcd_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("gcd");

/** The least common multiple, never negative. */
export const lcm: {
  (input: Operand, other: Operand): Tensor;
} = define("lcm");

/** Like lcm(), but writes the result into input and returns it. */
export const lcm_: {
  (input: Tensor, other: Operand): Tensor;
} = defineInPlace("lcm");

/** max(x, 0). */
export const relu: {
  (input: Tensor): Tensor;
} = define("relu");

/** Like relu(), but writes the result into input and returns it. */
export const relu_: {
  (input: Tensor): Tensor;
} = defineInPlace("relu");

/** min(max(x, 0), 6). */
export const relu6: {
  (input: Tensor): Tensor;
} = define("relu6");

/** Like relu6(), but writes the result into input and returns it. */
export const relu6_: {
  (input: Tensor): Tensor;
} = defineInPlace("relu6");

/** x above zero, x * negative_slope below. */
export const leakyRelu: {
  (input: Tensor, negativeSlope?: number): Tensor;
  (input: Tensor, options: { negativeSlope?: number }): Tensor;
} = define("leaky_relu");

/** Like leakyRelu(), but writes the result into input and returns it. */
export const leakyRelu_: {
  (input: Tensor, negativeSlope?: number): Tensor;
  (input: Tensor, options: { negativeSlope?: number }): Tensor;
} = defineInPlace("leaky_relu");

/** x above zero, alpha * (exp(x) - 1) below. */
export const elu: {
  (input: Tensor, alpha?: number): Tensor;
  (input: Tensor, options: { alpha?: number }): Tensor;
} = define("elu");

/** Like elu(), but writes the result into input and returns it. */
export const elu_: {
  (input: Tensor, alpha?: number): Tensor;
  (input: Tensor, options: { alpha?: number }): Tensor;
} = defineInPlace("elu");

/** elu, scaled so that activations tend to mean 0 and variance 1. */
export const selu: {
  (input: Tensor): Tensor;
} = define("selu");

/** Like selu(), but writes the result into input and returns it. */
export const selu_: {
  (input: Tensor): Tensor;
} = defineInPlace("selu");

/** x above zero, alpha * (exp(x / alpha) - 1) below. */
export const celu: {
  (input: Tensor, alpha?: number): Tensor;
  (input: Tensor, options: { alpha?: number }): Tensor;
} = define("celu");

/** Like celu(), but writes the result into input and returns it. */
export const celu_: {
  (input: Tensor, alpha?: number): Tensor;
  (input: Tensor, options: { alpha?: number }): Tensor;
} = defineInPlace("celu");

/** 1 / (1 + exp(-x)). */
export const sigmoid: {
  (input: Tensor): Tensor;
} = define("sigmoid");

/** Like sigmoid(), but writes the result into input and returns it. */
export const sigmoid_: {
  (input: Tensor): Tensor;
} = defineInPlace("sigmoid");

/** log(sigmoid(x)), without underflow. */
export const logsigmoid: {
  (input: Tensor): Tensor;
} = define("logsigmoid");

/** Like logsigmoid(), but writes the result into input and returns it. */
export const logsigmoid_: {
  (input: Tensor): Tensor;
} = defineInPlace("logsigmoid");

/** x * sigmoid(x). */
export const silu: {
  (input: Tensor): Tensor;
} = define("silu");

/** Like silu(), but writes the result into input and returns it. */
export const silu_: {
  (input: Tensor): Tensor;
} = defineInPlace("silu");

/** x * tanh(softplus(x)). */
export const mish: {
  (input: Tensor): Tensor;
} = define("mish");

/** Like mish(), but writes the result into input and returns it. */
export const mish_: {
  (input: Tensor): Tensor;
} = defineInPlace("mish");

/** x times the standard normal cumulative distribution function of x. */
export const gelu: {
  (input: Tensor, approximate?: "none" | "tanh"): Tensor;
  (input: Tensor, options: { approximate?: "none" | "tanh" }): Tensor;
} = define("gelu");

/** Like gelu(), but writes the result into input and returns it. */
export const gelu_: {
  (input: Tensor, approximate?: "none" | "tanh"): Tensor;
  (input: Tensor, options: { approximate?: "none" | "tanh" }): Tensor;
} = defineInPlace("gelu");

/** log(1 + exp(beta x)) / beta; x where beta x is above threshold. */
export const softplus: {
  (input: Tensor, beta?: number, threshold?: number): Tensor;
  (input: Tensor, options: { beta?: number; threshold?: number }): Tensor;
  (input: Tensor, beta: number, options: { threshold?: number }): Tensor;
} = define("softplus");

/** Like softplus(), but writes the result into input and returns it. */
export const softplus_: {
  (input: Tensor, beta?: number, threshold?: number): Tensor;
  (input: Tensor, options: { beta?: number; threshold?: number }): Tensor;
  (input: Tensor, beta: number, options: { threshold?: number }): Tensor;
} = defineInPlace("softplus");

/** x / (1 + |x|). */
export const softsign: {
  (input: Tensor): Tensor;
} = define("softsign");

/** Like softsign(), but writes the result into input and returns it. */
export const softsign_: {
  (input: Tensor): Tensor;
} = defineInPlace("softsign");

/** x - tanh(x). */
export const tanhshrink: {
  (input: Tensor): Tensor;
} = define("tanhshrink");

/** Like tanhshrink(), but writes the result into input and returns it. */
export const tanhshrink_: {
  (input: Tensor): Tensor;
} = defineInPlace("tanhshrink");

/** x shrunk towards zero by lambd; 0 in [-lambd, lambd]. */
export const softshrink: {
  (input: Tensor, lambd?: number): Tensor;
  (input: Tensor, options: { lambd?: number }): Tensor;
} = define("softshrink");

/** Like softshrink(), but writes the result into input and returns it. */
export const softshrink_: {
  (input: Tensor, lambd?: number): Tensor;
  (input: Tensor, options: { lambd?: number }): Tensor;
} = defineInPlace("softshrink");

/** x, but 0 in [-lambd, lambd]. */
export const hardshrink: {
  (input: Tensor, lambd?: number): Tensor;
  (input: Tensor, options: { lambd?: number }): Tensor;
} = define("hardshrink");

/** Like hardshrink(), but writes the result into input and returns it. */
export const hardshrink_: {
  (input: Tensor, lambd?: number): Tensor;
  (input: Tensor, options: { lambd?: number }): Tensor;
} = defineInPlace("hardshrink");

/** x clamped to [min_val, max_val]. */
export const hardtanh: {
  (input: Tensor, minVal?: number, maxVal?: number): Tensor;
  (input: Tensor, options: { minVal?: number; maxVal?: number }): Tensor;
  (input: Tensor, minVal: number, options: { maxVal?: number }): Tensor;
} = define("hardtanh");

/** Like hardtanh(), but writes the result into input and returns it. */
export const hardtanh_: {
  (input: Tensor, minVal?: number, maxVal?: number): Tensor;
  (input: Tensor, options: { minVal?: number; maxVal?: number }): Tensor;
  (input: Tensor, minVal: number, options: { maxVal?: number }): Tensor;
} = defineInPlace("hardtanh");

/** min(max(x + 3, 0), 6) / 6. */
export const hardsigmoid: {
  (input: Tensor): Tensor;
} = define("hardsigmoid");

/** Like hardsigmoid(), but writes the result into input and returns it. */
export const hardsigmoid_: {
  (input: Tensor): Tensor;
} = defineInPlace("hardsigmoid");

/** x * hardsigmoid(x). */
export const hardswish: {
  (input: Tensor): Tensor;
} = define("hardswish");

/** Like hardswish(), but writes the result into input and returns it. */
export const hardswish_: {
  (input: Tensor): Tensor;
} = defineInPlace("hardswish");

/** A copy in separate memory; gradients flow through it. */
export const clone: {
  (input: Tensor): Tensor;
} = define("clone");

/** The tensor itself when it is row-major, else a row-major copy. */
export const contiguous: {
  (input: Tensor): Tensor;
} = define("contiguous");

/** Writes source, broadcast and converted, into input. */
export const copy_: {
  (input: Tensor, source: Operand): Tensor;
} = defineInPlace("copy_");

/** Sets every element of input to value. */
export const fill_: {
  (input: Tensor, value: Operand): Tensor;
} = defineInPlace("fill_");

/** Sets every element of input to zero. */
export const zero_: {
  (input: Tensor): Tensor;
} = defineInPlace("zero_");

/** A view with the given size, strides and offset. */
export const asStrided: {
  (input: Tensor, size: Ints, stride: Ints, storageOffset?: number | null): Tensor;
  (input: Tensor, size: Ints, stride: Ints, options: { storageOffset?: number | null }): Tensor;
} = define("as_strided");

/** The same elements in another shape, without a copy. */
export const view: {
  (input: Tensor, shape: Ints): Tensor;
  (input: Tensor, ...shape: number[]): Tensor;
} = define("view");

/** The elements in another shape: a view if possible, else a copy. */
export const reshape: {
  (input: Tensor, shape: Ints): Tensor;
  (input: Tensor, ...shape: number[]): Tensor;
} = define("reshape");

/** A view of input in the shape of other. */
export const viewAs: {
  (input: Tensor, other: Tensor): Tensor;
} = define("view_as");

/** Merges the dimensions startDim to endDim into one. */
export const flatten: {
  (input: Tensor, startDim?: number, endDim?: number): Tensor;
  (input: Tensor, options: { startDim?: number; endDim?: number }): Tensor;
  (input: Tensor, startDim: number, options: { endDim?: number }): Tensor;
} = define("flatten");

/** Splits dimension dim into dimensions of the given sizes. */
export const unflatten: {
  (input: Tensor, dim: number, sizes: Ints): Tensor;
  (input: Tensor, dim: number, ...sizes: number[]): Tensor;
} = define("unflatten");

/** A view with dimensions dim0 and dim1 exchanged. */
export const transpose: {
  (input: Tensor, dim0: number, dim1: number): Tensor;
} = define("transpose");

/** Like transpose(), but writes the result into input and returns it. */
export const transpose_: {
  (input: Tensor, dim0: number, dim1: number): Tensor;
} = defineInPlace("transpose");

/** A view with dimensions axis0 and axis1 exchanged. */
export const swapaxes: {
  (input: Tensor, axis0: number, axis1: number): Tensor;
} = define("swapaxes");

/** Like swapaxes(), but writes the result into input and returns it. */
export const swapaxes_: {
  (input: Tensor, axis0: number, axis1: number): Tensor;
} = defineInPlace("swapaxes");

/** The transpose of a matrix; a vector stays as it is. */
export const t: {
  (input: Tensor): Tensor;
} = define("t");

/** Like t(), but writes the result into input and returns it. */
export const t_: {
  (input: Tensor): Tensor;
} = defineInPlace("t");

/** A view with the dimensions in the order dims. */
export const permute: {
  (input: Tensor, dims: Ints): Tensor;
  (input: Tensor, ...dims: number[]): Tensor;
} = define("permute");

/** A view with the dimensions source moved to the positions destination. */
export const movedim: {
  (input: Tensor, source: Ints, destination: Ints): Tensor;
} = define("movedim");

/** A view without dimensions of size one: all of them, or those in dim. */
export const squeeze: {
  (input: Tensor, dim?: Ints | null): Tensor;
  (input: Tensor, options: { dim?: Ints | null }): Tensor;
} = define("squeeze");

/** Like squeeze(), but writes the result into input and returns it. */
export const squeeze_: {
  (input: Tensor, dim?: Ints | null): Tensor;
  (input: Tensor, options: { dim?: Ints | null }): Tensor;
} = defineInPlace("squeeze");

/** A view with a dimension of size one inserted at dim. */
export const unsqueeze: {
  (input: Tensor, dim: number): Tensor;
} = define("unsqueeze");

/** Like unsqueeze(), but writes the result into input and returns it. */
export const unsqueeze_: {
  (input: Tensor, dim: number): Tensor;
} = defineInPlace("unsqueeze");

/** A view that repeats dimensions of size one; -1 keeps a size. */
export const expand: {
  (input: Tensor, size: Ints): Tensor;
  (input: Tensor, ...size: number[]): Tensor;
} = define("expand");

/** input expanded to the shape of other. */
export const expandAs: {
  (input: Tensor, other: Tensor): Tensor;
} = define("expand_as");

/** input expanded to a shape. */
export const broadcastTo: {
  (input: Tensor, shape: Ints): Tensor;
  (input: Tensor, ...shape: number[]): Tensor;
} = define("broadcast_to");

/** The same values without a graph. */
export const detach: {
  (input: Tensor): Tensor;
} = define("detach");

/** A view of length slices along dim, from start. */
export const narrow: {
  (input: Tensor, dim: number, start: number, length: number): Tensor;
} = define("narrow");

/** A view of the slice at index along dim, without that dimension. */
export const select: {
  (input: Tensor, dim: number, index: number): Tensor;
} = define("select");

/** Views of consecutive parts of the given sizes along dim. */
export const splitWithSizes: {
  (input: Tensor, splitSizes: Ints, dim?: number): Tensor[];
  (input: Tensor, splitSizes: Ints, options: { dim?: number }): Tensor[];
} = define("split_with_sizes");

/** Views of consecutive parts along dim: of one size, or of the given sizes. */
export const split: {
  (input: Tensor, splitSize: Ints, dim?: number): Tensor[];
  (input: Tensor, splitSize: Ints, options: { dim?: number }): Tensor[];
} = define("split");

/** Views of at most chunks parts along dim, of one size; the last may be smaller. */
export const chunk: {
  (input: Tensor, chunks: number, dim?: number): Tensor[];
  (input: Tensor, chunks: number, options: { dim?: number }): Tensor[];
} = define("chunk");

/** Views of all slices along dim, without that dimension. */
export const unbind: {
  (input: Tensor, dim?: number): Tensor[];
  (input: Tensor, options: { dim?: number }): Tensor[];
} = define("unbind");

/** A view of the diagonals of the planes of dim1 and dim2, as last dimension. */
export const diagonal: {
  (input: Tensor, offset?: number, dim1?: number, dim2?: number): Tensor;
  (input: Tensor, options: { offset?: number; dim1?: number; dim2?: number }): Tensor;
  (input: Tensor, offset: number, options: { dim1?: number; dim2?: number }): Tensor;
  (input: Tensor, offset: number, dim1: number, options: { dim2?: number }): Tensor;
} = define("diagonal");

/** A view of windows of size slices along dimension, step apart, as last dimension. */
export const unfold: {
  (input: Tensor, dimension: number, size: number, step: number): Tensor;
} = define("unfold");

/** Joins tensors along an existing dimension. */
export const cat: {
  (tensors: readonly Tensor[], dim?: number): Tensor;
  (tensors: readonly Tensor[], options: { dim?: number }): Tensor;
} = define("cat");

/** Joins tensors of one shape along a new dimension. */
export const stack: {
  (tensors: readonly Tensor[], dim?: number): Tensor;
  (tensors: readonly Tensor[], options: { dim?: number }): Tensor;
} = define("stack");

/** Joins tensors along dimension 1; vectors end to end. */
export const hstack: {
  (tensors: readonly Tensor[]): Tensor;
} = define("hstack");

/** Joins tensors along dimension 0; vectors become rows. */
export const vstack: {
  (tensors: readonly Tensor[]): Tensor;
} = define("vstack");

/** The coordinates of the points of a grid, a tensor for each axis. */
export const meshgrid: {
  (tensors: readonly Tensor[], indexing?: "ij" | "xy"): Tensor[];
  (tensors: readonly Tensor[], options: { indexing?: "ij" | "xy" }): Tensor[];
} = define("meshgrid");

/** A copy of input repeated repeats[i] times along dimension i. */
export const repeat: {
  (input: Tensor, repeats: Ints): Tensor;
  (input: Tensor, ...repeats: number[]): Tensor;
} = define("repeat");

/** repeat() in which missing repeats count as one. */
export const tile: {
  (input: Tensor, dims: Ints): Tensor;
  (input: Tensor, ...dims: number[]): Tensor;
} = define("tile");

/** A copy with the order of elements reversed along dims. */
export const flip: {
  (input: Tensor, dims: Ints): Tensor;
  (input: Tensor, ...dims: number[]): Tensor;
} = define("flip");

/** A copy with elements shifted cyclically along dims; flattened first without dims. */
export const roll: {
  (input: Tensor, shifts: Ints, dims?: Ints | null): Tensor;
  (input: Tensor, shifts: Ints, options: { dims?: Ints | null }): Tensor;
} = define("roll");

/** A copy rotated k times by 90 degrees in the plane dims. */
export const rot90: {
  (input: Tensor, k?: number, dims?: Ints): Tensor;
  (input: Tensor, options: { k?: number; dims?: Ints }): Tensor;
  (input: Tensor, k: number, options: { dims?: Ints }): Tensor;
} = define("rot90");

/** The lower triangle of matrices up to a diagonal, zero elsewhere. */
export const tril: {
  (input: Tensor, diagonal?: number): Tensor;
  (input: Tensor, options: { diagonal?: number }): Tensor;
} = define("tril");

/** Like tril(), but writes the result into input and returns it. */
export const tril_: {
  (input: Tensor, diagonal?: number): Tensor;
  (input: Tensor, options: { diagonal?: number }): Tensor;
} = defineInPlace("tril");

/** The upper triangle of matrices from a diagonal on, zero elsewhere. */
export const triu: {
  (input: Tensor, diagonal?: number): Tensor;
  (input: Tensor, options: { diagonal?: number }): Tensor;
} = define("triu");

/** Like triu(), but writes the result into input and returns it. */
export const triu_: {
  (input: Tensor, diagonal?: number): Tensor;
  (input: Tensor, options: { diagonal?: number }): Tensor;
} = defineInPlace("triu");

/** A matrix with a vector on its diagonal, or the diagonal of a matrix. */
export const diag: {
  (input: Tensor, diagonal?: number): Tensor;
  (input: Tensor, options: { diagonal?: number }): Tensor;
} = define("diag");

/** The sum of the diagonal of a matrix. */
export const trace: {
  (input: Tensor): Tensor;
} = define("trace");

/** Sets the diagonal of input to fillValue; with wrap, a tall matrix has further diagonals. */
export const fillDiagonal_: {
  (input: Tensor, fillValue: Scalar | Complex, wrap?: boolean): Tensor;
  (input: Tensor, fillValue: Scalar | Complex, options: { wrap?: boolean }): Tensor;
} = defineInPlace("fill_diagonal_");

/** The slices of input at index along dim. */
export const indexSelect: {
  (input: Tensor, dim: number, index: Tensor): Tensor;
} = define("index_select");

/** A copy of input with alpha * source added to the slices at index. */
export const indexAdd: {
  (input: Tensor, dim: number, index: Tensor, source: Tensor, alpha?: Scalar | Complex): Tensor;
  (input: Tensor, dim: number, index: Tensor, source: Tensor, options: { alpha?: Scalar | Complex }): Tensor;
} = define("index_add");

/** Like indexAdd(), but writes the result into input and returns it. */
export const indexAdd_: {
  (input: Tensor, dim: number, index: Tensor, source: Tensor, alpha?: Scalar | Complex): Tensor;
  (input: Tensor, dim: number, index: Tensor, source: Tensor, options: { alpha?: Scalar | Complex }): Tensor;
} = defineInPlace("index_add");

/** A copy of input with the slices at index replaced by those of source. */
export const indexCopy: {
  (input: Tensor, dim: number, index: Tensor, source: Tensor): Tensor;
} = define("index_copy");

/** Like indexCopy(), but writes the result into input and returns it. */
export const indexCopy_: {
  (input: Tensor, dim: number, index: Tensor, source: Tensor): Tensor;
} = defineInPlace("index_copy");

/** A copy of input with the slices at index set to value. */
export const indexFill: {
  (input: Tensor, dim: number, index: Tensor, value: Operand): Tensor;
} = define("index_fill");

/** Like indexFill(), but writes the result into input and returns it. */
export const indexFill_: {
  (input: Tensor, dim: number, index: Tensor, value: Operand): Tensor;
} = defineInPlace("index_fill");

/** For each element of index, the element of input there along dim; with sparseGrad, the gradient of input is sparse. */
export const gather: {
  (input: Tensor, dim: number, index: Tensor, sparseGrad?: boolean): Tensor;
  (input: Tensor, dim: number, index: Tensor, options: { sparseGrad?: boolean }): Tensor;
} = define("gather");

/** A copy of input with the elements of src, or a number, written at index along dim; with reduce, added to or multiplied with the old elements. */
export const scatter: {
  (input: Tensor, dim: number, index: Tensor, src: Operand, reduce?: "none" | "add" | "multiply"): Tensor;
  (input: Tensor, dim: number, index: Tensor, src: Operand, options: { reduce?: "none" | "add" | "multiply" }): Tensor;
} = define("scatter");

/** Like scatter(), but writes the result into input and returns it. */
export const scatter_: {
  (input: Tensor, dim: number, index: Tensor, src: Operand, reduce?: "none" | "add" | "multiply"): Tensor;
  (input: Tensor, dim: number, index: Tensor, src: Operand, options: { reduce?: "none" | "add" | "multiply" }): Tensor;
} = defineInPlace("scatter");

/** A copy of input with the elements of src added to those at index along dim. */
export const scatterAdd: {
  (input: Tensor, dim: number, index: Tensor, src: Tensor): Tensor;
} = define("scatter_add");

/** Like scatterAdd(), but writes the result into input and returns it. */
export const scatterAdd_: {
  (input: Tensor, dim: number, index: Tensor, src: Tensor): Tensor;
} = defineInPlace("scatter_add");

/** A copy of input in which the elements of src with the same index along dim are reduced to one, together with the old element unless includeSelf is false. */
export const scatterReduce: {
  (input: Tensor, dim: number, index: Tensor, src: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", includeSelf?: boolean): Tensor;
  (input: Tensor, dim: number, index: Tensor, src: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", options: { includeSelf?: boolean }): Tensor;
} = define("scatter_reduce");

/** Like scatterReduce(), but writes the result into input and returns it. */
export const scatterReduce_: {
  (input: Tensor, dim: number, index: Tensor, src: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", includeSelf?: boolean): Tensor;
  (input: Tensor, dim: number, index: Tensor, src: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", options: { includeSelf?: boolean }): Tensor;
} = defineInPlace("scatter_reduce");

/** A copy of input in which the slices of source with the same index along dim are reduced to one, together with the old slice unless includeSelf is false. For sums use indexAdd(). */
export const indexReduce: {
  (input: Tensor, dim: number, index: Tensor, source: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", includeSelf?: boolean): Tensor;
  (input: Tensor, dim: number, index: Tensor, source: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", options: { includeSelf?: boolean }): Tensor;
} = define("index_reduce");

/** Like indexReduce(), but writes the result into input and returns it. */
export const indexReduce_: {
  (input: Tensor, dim: number, index: Tensor, source: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", includeSelf?: boolean): Tensor;
  (input: Tensor, dim: number, index: Tensor, source: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", options: { includeSelf?: boolean }): Tensor;
} = defineInPlace("index_reduce");

/** gather() with input and indices broadcast except along dim; both flattened without dim. */
export const takeAlongDim: {
  (input: Tensor, indices: Tensor, dim?: number | null): Tensor;
  (input: Tensor, indices: Tensor, options: { dim?: number | null }): Tensor;
} = define("take_along_dim");

/** The elements of the flattened input at index. */
export const take: {
  (input: Tensor, index: Tensor): Tensor;
} = define("take");

/** The elements of input where mask holds, as a vector. */
export const maskedSelect: {
  (input: Tensor, mask: Tensor): Tensor;
} = define("masked_select");

/** A copy of input with the elements of source, in order, where mask holds. */
export const maskedScatter: {
  (input: Tensor, mask: Tensor, source: Tensor): Tensor;
} = define("masked_scatter");

/** Like maskedScatter(), but writes the result into input and returns it. */
export const maskedScatter_: {
  (input: Tensor, mask: Tensor, source: Tensor): Tensor;
} = defineInPlace("masked_scatter");

/** The indices of the nonzero elements, one row for each element. */
export const nonzero: {
  (input: Tensor): Tensor;
} = define("nonzero");

/** Repeats every slice along dim; every element without dim. */
export const repeatInterleave: {
  (input: Tensor, repeats: Operand, dim?: number | null): Tensor;
  (input: Tensor, repeats: Operand, options: { dim?: number | null }): Tensor;
} = define("repeat_interleave");

/** For each class a row of zeros with a one at the class. */
export const oneHot: {
  (input: Tensor, numClasses?: number): Tensor;
  (input: Tensor, options: { numClasses?: number }): Tensor;
} = define("one_hot");

/** The index along the last dimension of sortedSequence at which each element of input would be inserted: before equal elements, or with right after them. sorter is the argsort() of an unsorted sequence. */
export const searchsorted: {
  (sortedSequence: Tensor, input: Operand, outInt32?: boolean, right?: boolean, side?: null | "left" | "right", sorter?: Tensor | null): Tensor;
  (sortedSequence: Tensor, input: Operand, options: { outInt32?: boolean; right?: boolean; side?: null | "left" | "right"; sorter?: Tensor | null }): Tensor;
  (sortedSequence: Tensor, input: Operand, outInt32: boolean, options: { right?: boolean; side?: null | "left" | "right"; sorter?: Tensor | null }): Tensor;
  (sortedSequence: Tensor, input: Operand, outInt32: boolean, right: boolean, options: { side?: null | "left" | "right"; sorter?: Tensor | null }): Tensor;
  (sortedSequence: Tensor, input: Operand, outInt32: boolean, right: boolean, side: null | "left" | "right", options: { sorter?: Tensor | null }): Tensor;
} = define("searchsorted");

/** The bucket of each element of input between boundaries, an ascending vector: searchsorted() with one sequence. */
export const bucketize: {
  (input: Tensor, boundaries: Tensor, outInt32?: boolean, right?: boolean): Tensor;
  (input: Tensor, boundaries: Tensor, options: { outInt32?: boolean; right?: boolean }): Tensor;
  (input: Tensor, boundaries: Tensor, outInt32: boolean, options: { right?: boolean }): Tensor;
} = define("bucketize");

/** The rows of weight at the indices in input; row paddingIdx gets no gradient. With sparse, the gradient of weight is a sparse tensor of the chosen rows. */
export const embedding: {
  (input: Tensor, weight: Tensor, paddingIdx?: number | null, sparse?: boolean): Tensor;
  (input: Tensor, weight: Tensor, options: { paddingIdx?: number | null; sparse?: boolean }): Tensor;
  (input: Tensor, weight: Tensor, paddingIdx: number | null, options: { sparse?: boolean }): Tensor;
} = define("embedding");

/** A copy of input with values, broadcast, at the elements that indices select. */
export const indexPut: {
  (input: Tensor, indices: readonly Tensor[], values: Operand, accumulate?: boolean): Tensor;
  (input: Tensor, indices: readonly Tensor[], values: Operand, options: { accumulate?: boolean }): Tensor;
} = define("index_put");

/** Writes values, broadcast, to the elements of input that indices select, or adds them. */
export const indexPut_: {
  (input: Tensor, indices: readonly Tensor[], values: Operand, accumulate?: boolean, dims?: Ints | null): Tensor;
  (input: Tensor, indices: readonly Tensor[], values: Operand, options: { accumulate?: boolean; dims?: Ints | null }): Tensor;
  (input: Tensor, indices: readonly Tensor[], values: Operand, accumulate: boolean, options: { dims?: Ints | null }): Tensor;
} = defineInPlace("index_put_");

/** A tensor of zeros. */
export const zeros: {
  (...size: number[]): Tensor;
  (...sizeAndOptions: [...number[], TensorOptions]): Tensor;
  (size: Ints, options?: TensorOptions): Tensor;
} = defineFactory("zeros");

/** A tensor of ones. */
export const ones: {
  (...size: number[]): Tensor;
  (...sizeAndOptions: [...number[], TensorOptions]): Tensor;
  (size: Ints, options?: TensorOptions): Tensor;
} = defineFactory("ones");

/** A tensor filled with one value, which sets its dtype. */
export const full: {
  (size: Ints, fillValue: Scalar | Complex, options?: TensorOptions): Tensor;
} = defineFactory("full");

/** A tensor with uninitialized values. */
export const empty: {
  (...size: number[]): Tensor;
  (...sizeAndOptions: [...number[], TensorOptions]): Tensor;
  (size: Ints, options?: TensorOptions): Tensor;
} = defineFactory("empty");

/** Numbers from start to end, which is excluded, spaced by step; arange(end) starts at 0. */
export const arange: {
  (start: Scalar, end?: Scalar | null, step?: Scalar, options?: TensorOptions): Tensor;
  (start: Scalar, options: { end?: Scalar | null; step?: Scalar } & TensorOptions): Tensor;
  (start: Scalar, end: Scalar | null, options: { step?: Scalar } & TensorOptions): Tensor;
} = defineFactory("arange");

/** steps evenly spaced numbers from start to end, both included. */
export const linspace: {
  (start: number, end: number, steps: number, options?: TensorOptions): Tensor;
} = defineFactory("linspace");

/** Ones on the diagonal of an n by m matrix of zeros. */
export const eye: {
  (n: number, m?: number | null, options?: TensorOptions): Tensor;
  (n: number, options: { m?: number | null } & TensorOptions): Tensor;
} = defineFactory("eye");

/** Zeros in the shape of input. */
export const zerosLike: {
  (input: Tensor, options?: TensorOptions): Tensor;
} = defineFactory("zeros_like");

/** Ones in the shape of input. */
export const onesLike: {
  (input: Tensor, options?: TensorOptions): Tensor;
} = defineFactory("ones_like");

/** One value in the shape of input. */
export const fullLike: {
  (input: Tensor, fillValue: Scalar | Complex, options?: TensorOptions): Tensor;
} = defineFactory("full_like");

/** Uninitialized values in the shape of input. */
export const emptyLike: {
  (input: Tensor, options?: TensorOptions): Tensor;
} = defineFactory("empty_like");

/** Uniform random numbers in [0, 1). */
export const rand: {
  (...size: number[]): Tensor;
  (...sizeAndOptions: [...number[], TensorOptions & GeneratorOption]): Tensor;
  (size: Ints, options?: TensorOptions & GeneratorOption): Tensor;
} = withGenerator(defineFactory("rand"));

/** Normal random numbers of mean 0 and standard deviation 1. */
export const randn: {
  (...size: number[]): Tensor;
  (...sizeAndOptions: [...number[], TensorOptions & GeneratorOption]): Tensor;
  (size: Ints, options?: TensorOptions & GeneratorOption): Tensor;
} = withGenerator(defineFactory("randn"));

/** Random integers in [low, high); randint(high, size) begins at 0. */
export const randint: {
  (low: number, high: Ints, size?: Ints | null, options?: TensorOptions & GeneratorOption): Tensor;
  (low: number, high: Ints, options: { size?: Ints | null } & TensorOptions & GeneratorOption): Tensor;
} = withGenerator(defineFactory("randint"));

/** The integers below n in random order. */
export const randperm: {
  (n: number, options?: TensorOptions & GeneratorOption): Tensor;
} = withGenerator(defineFactory("randperm"));

/** Uniform random numbers in [0, 1) in the shape of input. */
export const randLike: {
  (input: Tensor, options?: TensorOptions & GeneratorOption): Tensor;
} = withGenerator(defineFactory("rand_like"));

/** Normal random numbers in the shape of input. */
export const randnLike: {
  (input: Tensor, options?: TensorOptions & GeneratorOption): Tensor;
} = withGenerator(defineFactory("randn_like"));

/** Sets the elements of input to uniform random numbers in [from, to). */
export const uniform_: {
  (input: Tensor, from?: number, to?: number, options?: GeneratorOption): Tensor;
  (input: Tensor, options: { from?: number; to?: number } & GeneratorOption): Tensor;
  (input: Tensor, from: number, options: { to?: number } & GeneratorOption): Tensor;
} = withGenerator(defineInPlace("uniform_"));

/** Sets the elements of input to normal random numbers. */
export const normal_: {
  (input: Tensor, mean?: number, std?: number, options?: GeneratorOption): Tensor;
  (input: Tensor, options: { mean?: number; std?: number } & GeneratorOption): Tensor;
  (input: Tensor, mean: number, options: { std?: number } & GeneratorOption): Tensor;
} = withGenerator(defineInPlace("normal_"));

/** Sets the elements of input to random integers in [from, to), or in the range of its dtype. */
export const random_: {
  (input: Tensor, from?: Scalar | null, to?: Scalar | null, options?: GeneratorOption): Tensor;
  (input: Tensor, options: { from?: Scalar | null; to?: Scalar | null } & GeneratorOption): Tensor;
  (input: Tensor, from: Scalar | null, options: { to?: Scalar | null } & GeneratorOption): Tensor;
} = withGenerator(defineInPlace("random_"));

/** Sets the elements of input to exponentially distributed numbers of rate lambd. */
export const exponential_: {
  (input: Tensor, lambd?: number, options?: GeneratorOption): Tensor;
  (input: Tensor, options: { lambd?: number } & GeneratorOption): Tensor;
} = withGenerator(defineInPlace("exponential_"));

/** Sets the elements of input to 1 with probability p, else to 0. */
export const bernoulli_: {
  (input: Tensor, p?: number, options?: GeneratorOption): Tensor;
  (input: Tensor, options: { p?: number } & GeneratorOption): Tensor;
} = withGenerator(defineInPlace("bernoulli_"));

/** 1 with the probability in input, else 0. */
export const bernoulli: {
  (input: Tensor, options?: GeneratorOption): Tensor;
} = withGenerator(define("bernoulli"));

/** In training, zeroes elements with probability p and scales the others by 1 / (1 - p). */
export const dropout: {
  (input: Tensor, p?: number, training?: boolean): Tensor;
  (input: Tensor, options: { p?: number; training?: boolean }): Tensor;
  (input: Tensor, p: number, options: { training?: boolean }): Tensor;
} = define("dropout");

/** Sum of all elements or along dim; int64 for integers. */
export const sum: {
  (input: Tensor, dim?: Ints | null, keepdim?: boolean, dtype?: DType | null): Tensor;
  (input: Tensor, options: { dim?: Ints | null; keepdim?: boolean; dtype?: DType | null }): Tensor;
  (input: Tensor, dim: Ints | null, options: { keepdim?: boolean; dtype?: DType | null }): Tensor;
  (input: Tensor, dim: Ints | null, keepdim: boolean, options: { dtype?: DType | null }): Tensor;
} = define("sum");

/** Mean of all elements or along dim. */
export const mean: {
  (input: Tensor, dim?: Ints | null, keepdim?: boolean, dtype?: DType | null): Tensor;
  (input: Tensor, options: { dim?: Ints | null; keepdim?: boolean; dtype?: DType | null }): Tensor;
  (input: Tensor, dim: Ints | null, options: { keepdim?: boolean; dtype?: DType | null }): Tensor;
  (input: Tensor, dim: Ints | null, keepdim: boolean, options: { dtype?: DType | null }): Tensor;
} = define("mean");

/** Product of all elements or along dim; int64 for integers. */
export const prod: {
  (input: Tensor, dim?: number | null, keepdim?: boolean, dtype?: DType | null): Tensor;
  (input: Tensor, options: { dim?: number | null; keepdim?: boolean; dtype?: DType | null }): Tensor;
  (input: Tensor, dim: number | null, options: { keepdim?: boolean; dtype?: DType | null }): Tensor;
  (input: Tensor, dim: number | null, keepdim: boolean, options: { dtype?: DType | null }): Tensor;
} = define("prod");

/** Whether any element is nonzero, of all or along dim. */
export const any: {
  (input: Tensor, dim?: Ints | null, keepdim?: boolean): Tensor;
  (input: Tensor, options: { dim?: Ints | null; keepdim?: boolean }): Tensor;
  (input: Tensor, dim: Ints | null, options: { keepdim?: boolean }): Tensor;
} = define("any");

/** Whether every element is nonzero, of all or along dim. */
export const all: {
  (input: Tensor, dim?: Ints | null, keepdim?: boolean): Tensor;
  (input: Tensor, options: { dim?: Ints | null; keepdim?: boolean }): Tensor;
  (input: Tensor, dim: Ints | null, options: { keepdim?: boolean }): Tensor;
} = define("all");

/** Largest element, of all or along dim; ties share the gradient. */
export const amax: {
  (input: Tensor, dim?: Ints | null, keepdim?: boolean): Tensor;
  (input: Tensor, options: { dim?: Ints | null; keepdim?: boolean }): Tensor;
  (input: Tensor, dim: Ints | null, options: { keepdim?: boolean }): Tensor;
} = define("amax");

/** Smallest element, of all or along dim; ties share the gradient. */
export const amin: {
  (input: Tensor, dim?: Ints | null, keepdim?: boolean): Tensor;
  (input: Tensor, options: { dim?: Ints | null; keepdim?: boolean }): Tensor;
  (input: Tensor, dim: Ints | null, options: { keepdim?: boolean }): Tensor;
} = define("amin");

/** Largest element; with dim, [values, indices]; of two tensors, their maximum. */
export const max: {
  (input: Tensor, dim?: Tensor | null, keepdim?: boolean): Tensor;
  (input: Tensor, options: { dim?: Tensor | null; keepdim?: boolean }): Tensor;
  (input: Tensor, dim: Tensor | null, options: { keepdim?: boolean }): Tensor;
  (input: Tensor, dim: number, keepdim?: boolean): [values: Tensor, indices: Tensor];
  (input: Tensor, options: { dim: number; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, dim: number, options: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, dim?: Operand | null, keepdim?: boolean): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, options: { dim?: Operand | null; keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, dim: Operand | null, options: { keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
} = define("max");

/** Smallest element; with dim, [values, indices]; of two tensors, their minimum. */
export const min: {
  (input: Tensor, dim?: Tensor | null, keepdim?: boolean): Tensor;
  (input: Tensor, options: { dim?: Tensor | null; keepdim?: boolean }): Tensor;
  (input: Tensor, dim: Tensor | null, options: { keepdim?: boolean }): Tensor;
  (input: Tensor, dim: number, keepdim?: boolean): [values: Tensor, indices: Tensor];
  (input: Tensor, options: { dim: number; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, dim: number, options: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, dim?: Operand | null, keepdim?: boolean): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, options: { dim?: Operand | null; keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, dim: Operand | null, options: { keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
} = define("min");

/** Index of the first largest element, of all or along dim. */
export const argmax: {
  (input: Tensor, dim?: number | null, keepdim?: boolean): Tensor;
  (input: Tensor, options: { dim?: number | null; keepdim?: boolean }): Tensor;
  (input: Tensor, dim: number | null, options: { keepdim?: boolean }): Tensor;
} = define("argmax");

/** Index of the first smallest element, of all or along dim. */
export const argmin: {
  (input: Tensor, dim?: number | null, keepdim?: boolean): Tensor;
  (input: Tensor, options: { dim?: number | null; keepdim?: boolean }): Tensor;
  (input: Tensor, dim: number | null, options: { keepdim?: boolean }): Tensor;
} = define("argmin");

/** Variance of all elements or along dim, divided by their number - correction. */
const varOp: {
  (input: Tensor, dim?: Ints | null, correction?: number, keepdim?: boolean, unbiased?: boolean | null): Tensor;
  (input: Tensor, options: { dim?: Ints | null; correction?: number; keepdim?: boolean; unbiased?: boolean | null }): Tensor;
  (input: Tensor, dim: Ints | null, options: { correction?: number; keepdim?: boolean; unbiased?: boolean | null }): Tensor;
  (input: Tensor, dim: Ints | null, correction: number, options: { keepdim?: boolean; unbiased?: boolean | null }): Tensor;
  (input: Tensor, dim: Ints | null, correction: number, keepdim: boolean, options: { unbiased?: boolean | null }): Tensor;
} = define("var");
export { varOp as var };

/** Standard deviation: the square root of var. */
export const std: {
  (input: Tensor, dim?: Ints | null, correction?: number, keepdim?: boolean, unbiased?: boolean | null): Tensor;
  (input: Tensor, options: { dim?: Ints | null; correction?: number; keepdim?: boolean; unbiased?: boolean | null }): Tensor;
  (input: Tensor, dim: Ints | null, options: { correction?: number; keepdim?: boolean; unbiased?: boolean | null }): Tensor;
  (input: Tensor, dim: Ints | null, correction: number, options: { keepdim?: boolean; unbiased?: boolean | null }): Tensor;
  (input: Tensor, dim: Ints | null, correction: number, keepdim: boolean, options: { unbiased?: boolean | null }): Tensor;
} = define("std");

/** log(sum(exp(input))) along dim, without overflow. */
export const logsumexp: {
  (input: Tensor, dim: Ints, keepdim?: boolean): Tensor;
  (input: Tensor, dim: Ints, options: { keepdim?: boolean }): Tensor;
} = define("logsumexp");

/** Sum of the elements that are not NaN. */
export const nansum: {
  (input: Tensor, dim?: Ints | null, keepdim?: boolean, dtype?: DType | null): Tensor;
  (input: Tensor, options: { dim?: Ints | null; keepdim?: boolean; dtype?: DType | null }): Tensor;
  (input: Tensor, dim: Ints | null, options: { keepdim?: boolean; dtype?: DType | null }): Tensor;
  (input: Tensor, dim: Ints | null, keepdim: boolean, options: { dtype?: DType | null }): Tensor;
} = define("nansum");

/** Mean of the elements that are not NaN. */
export const nanmean: {
  (input: Tensor, dim?: Ints | null, keepdim?: boolean, dtype?: DType | null): Tensor;
  (input: Tensor, options: { dim?: Ints | null; keepdim?: boolean; dtype?: DType | null }): Tensor;
  (input: Tensor, dim: Ints | null, options: { keepdim?: boolean; dtype?: DType | null }): Tensor;
  (input: Tensor, dim: Ints | null, keepdim: boolean, options: { dtype?: DType | null }): Tensor;
} = define("nanmean");

/** Number of nonzero elements. */
export const countNonzero: {
  (input: Tensor, dim?: Ints | null): Tensor;
  (input: Tensor, options: { dim?: Ints | null }): Tensor;
} = define("count_nonzero");

/** [smallest, largest] element, of all or along dim. */
export const aminmax: {
  (input: Tensor, dim?: number | null, keepdim?: boolean): [min: Tensor, max: Tensor];
  (input: Tensor, options: { dim?: number | null; keepdim?: boolean }): [min: Tensor, max: Tensor];
  (input: Tensor, dim: number | null, options: { keepdim?: boolean }): [min: Tensor, max: Tensor];
} = define("aminmax");

/** [variance, mean] of all elements or along dim. */
export const varMean: {
  (input: Tensor, dim?: Ints | null, correction?: number, keepdim?: boolean, unbiased?: boolean | null): [variance: Tensor, mean: Tensor];
  (input: Tensor, options: { dim?: Ints | null; correction?: number; keepdim?: boolean; unbiased?: boolean | null }): [variance: Tensor, mean: Tensor];
  (input: Tensor, dim: Ints | null, options: { correction?: number; keepdim?: boolean; unbiased?: boolean | null }): [variance: Tensor, mean: Tensor];
  (input: Tensor, dim: Ints | null, correction: number, options: { keepdim?: boolean; unbiased?: boolean | null }): [variance: Tensor, mean: Tensor];
  (input: Tensor, dim: Ints | null, correction: number, keepdim: boolean, options: { unbiased?: boolean | null }): [variance: Tensor, mean: Tensor];
} = define("var_mean");

/** [standard deviation, mean] of all elements or along dim. */
export const stdMean: {
  (input: Tensor, dim?: Ints | null, correction?: number, keepdim?: boolean, unbiased?: boolean | null): [std: Tensor, mean: Tensor];
  (input: Tensor, options: { dim?: Ints | null; correction?: number; keepdim?: boolean; unbiased?: boolean | null }): [std: Tensor, mean: Tensor];
  (input: Tensor, dim: Ints | null, options: { correction?: number; keepdim?: boolean; unbiased?: boolean | null }): [std: Tensor, mean: Tensor];
  (input: Tensor, dim: Ints | null, correction: number, options: { keepdim?: boolean; unbiased?: boolean | null }): [std: Tensor, mean: Tensor];
  (input: Tensor, dim: Ints | null, correction: number, keepdim: boolean, options: { unbiased?: boolean | null }): [std: Tensor, mean: Tensor];
} = define("std_mean");

/** input where it is positive, else weight * input; one weight, or one per channel. */
export const prelu: {
  (input: Tensor, weight: Tensor): Tensor;
} = define("prelu");

/** input where it is above threshold, else value. */
export const threshold: {
  (input: Tensor, threshold: Scalar, value: Scalar): Tensor;
} = define("threshold");

/** Like threshold(), but writes the result into input and returns it. */
export const threshold_: {
  (input: Tensor, threshold: Scalar, value: Scalar): Tensor;
} = defineInPlace("threshold");

/** Whether elements differ by at most atol + rtol * |other|, or are equal. */
export const isclose: {
  (input: Tensor, other: Tensor, rtol?: number, atol?: number, equalNan?: boolean): Tensor;
  (input: Tensor, other: Tensor, options: { rtol?: number; atol?: number; equalNan?: boolean }): Tensor;
  (input: Tensor, other: Tensor, rtol: number, options: { atol?: number; equalNan?: boolean }): Tensor;
  (input: Tensor, other: Tensor, rtol: number, atol: number, options: { equalNan?: boolean }): Tensor;
} = define("isclose");

/** exp(input) divided by its sum along dim. */
export const softmax: {
  (input: Tensor, dim: number, dtype?: DType | null): Tensor;
  (input: Tensor, dim: number, options: { dtype?: DType | null }): Tensor;
} = define("softmax");

/** Logarithm of softmax, exact where softmax is almost zero. */
export const logSoftmax: {
  (input: Tensor, dim: number, dtype?: DType | null): Tensor;
  (input: Tensor, dim: number, options: { dtype?: DType | null }): Tensor;
} = define("log_softmax");

/** softmax of the negative input. */
export const softmin: {
  (input: Tensor, dim: number, dtype?: DType | null): Tensor;
  (input: Tensor, dim: number, options: { dtype?: DType | null }): Tensor;
} = define("softmin");

/** Cross entropy of scores with target classes or probabilities. */
export const crossEntropy: {
  (input: Tensor, target: Tensor, weight?: Tensor | null, ignoreIndex?: number, reduction?: "none" | "mean" | "sum", labelSmoothing?: number): Tensor;
  (input: Tensor, target: Tensor, options: { weight?: Tensor | null; ignoreIndex?: number; reduction?: "none" | "mean" | "sum"; labelSmoothing?: number }): Tensor;
  (input: Tensor, target: Tensor, weight: Tensor | null, options: { ignoreIndex?: number; reduction?: "none" | "mean" | "sum"; labelSmoothing?: number }): Tensor;
  (input: Tensor, target: Tensor, weight: Tensor | null, ignoreIndex: number, options: { reduction?: "none" | "mean" | "sum"; labelSmoothing?: number }): Tensor;
  (input: Tensor, target: Tensor, weight: Tensor | null, ignoreIndex: number, reduction: "none" | "mean" | "sum", options: { labelSmoothing?: number }): Tensor;
} = define("cross_entropy");

/** Negative log-likelihood of target classes, from log-probabilities. */
export const nllLoss: {
  (input: Tensor, target: Tensor, weight?: Tensor | null, ignoreIndex?: number, reduction?: "none" | "mean" | "sum"): Tensor;
  (input: Tensor, target: Tensor, options: { weight?: Tensor | null; ignoreIndex?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input: Tensor, target: Tensor, weight: Tensor | null, options: { ignoreIndex?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input: Tensor, target: Tensor, weight: Tensor | null, ignoreIndex: number, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = define("nll_loss");

/** Mean squared error. */
export const mseLoss: {
  (input: Tensor, target: Tensor, reduction?: "none" | "mean" | "sum"): Tensor;
  (input: Tensor, target: Tensor, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = sameSized(define("mse_loss"));

/** Mean absolute error. */
export const l1Loss: {
  (input: Tensor, target: Tensor, reduction?: "none" | "mean" | "sum"): Tensor;
  (input: Tensor, target: Tensor, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = sameSized(define("l1_loss"));

/** Mean absolute error, smoothed to a parabola below beta. */
export const smoothL1Loss: {
  (input: Tensor, target: Tensor, reduction?: "none" | "mean" | "sum", beta?: number): Tensor;
  (input: Tensor, target: Tensor, options: { reduction?: "none" | "mean" | "sum"; beta?: number }): Tensor;
  (input: Tensor, target: Tensor, reduction: "none" | "mean" | "sum", options: { beta?: number }): Tensor;
} = sameSized(define("smooth_l1_loss"));

/** Mean of half the squared error, linear above delta. */
export const huberLoss: {
  (input: Tensor, target: Tensor, reduction?: "none" | "mean" | "sum", delta?: number): Tensor;
  (input: Tensor, target: Tensor, options: { reduction?: "none" | "mean" | "sum"; delta?: number }): Tensor;
  (input: Tensor, target: Tensor, reduction: "none" | "mean" | "sum", options: { delta?: number }): Tensor;
} = sameSized(define("huber_loss"));

/** Cross entropy of binary probabilities. */
export const binaryCrossEntropy: {
  (input: Tensor, target: Tensor, weight?: Tensor | null, reduction?: "none" | "mean" | "sum"): Tensor;
  (input: Tensor, target: Tensor, options: { weight?: Tensor | null; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input: Tensor, target: Tensor, weight: Tensor | null, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = define("binary_cross_entropy");

/** Binary cross entropy of sigmoid(input), stable for any input. */
export const binaryCrossEntropyWithLogits: {
  (input: Tensor, target: Tensor, weight?: Tensor | null, reduction?: "none" | "mean" | "sum", posWeight?: Tensor | null): Tensor;
  (input: Tensor, target: Tensor, options: { weight?: Tensor | null; reduction?: "none" | "mean" | "sum"; posWeight?: Tensor | null }): Tensor;
  (input: Tensor, target: Tensor, weight: Tensor | null, options: { reduction?: "none" | "mean" | "sum"; posWeight?: Tensor | null }): Tensor;
  (input: Tensor, target: Tensor, weight: Tensor | null, reduction: "none" | "mean" | "sum", options: { posWeight?: Tensor | null }): Tensor;
} = define("binary_cross_entropy_with_logits");

/** Kullback-Leibler divergence of target from the log-probabilities input. */
export const klDiv: {
  (input: Tensor, target: Tensor, reduction?: "none" | "mean" | "sum" | "batchmean", logTarget?: boolean): Tensor;
  (input: Tensor, target: Tensor, options: { reduction?: "none" | "mean" | "sum" | "batchmean"; logTarget?: boolean }): Tensor;
  (input: Tensor, target: Tensor, reduction: "none" | "mean" | "sum" | "batchmean", options: { logTarget?: boolean }): Tensor;
} = define("kl_div");

/** By how much input1 fails to be margin above (target 1) or below (target -1) input2. */
export const marginRankingLoss: {
  (input1: Tensor, input2: Tensor, target: Tensor, margin?: number, reduction?: "none" | "mean" | "sum"): Tensor;
  (input1: Tensor, input2: Tensor, target: Tensor, options: { margin?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input1: Tensor, input2: Tensor, target: Tensor, margin: number, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = define("margin_ranking_loss");

/** The distance input (target 1), or by how much it is less than margin (target -1). */
export const hingeEmbeddingLoss: {
  (input: Tensor, target: Tensor, margin?: number, reduction?: "none" | "mean" | "sum"): Tensor;
  (input: Tensor, target: Tensor, options: { margin?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input: Tensor, target: Tensor, margin: number, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = define("hinge_embedding_loss");

/** log(1 + exp(-target * input)) for targets 1 and -1. */
export const softMarginLoss: {
  (input: Tensor, target: Tensor, reduction?: "none" | "mean" | "sum"): Tensor;
  (input: Tensor, target: Tensor, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = define("soft_margin_loss");

/** One minus the cosine of two vectors (target 1), or how far it is above margin (target -1). */
export const cosineEmbeddingLoss: {
  (input1: Tensor, input2: Tensor, target: Tensor, margin?: number, reduction?: "none" | "mean" | "sum"): Tensor;
  (input1: Tensor, input2: Tensor, target: Tensor, options: { margin?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input1: Tensor, input2: Tensor, target: Tensor, margin: number, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = define("cosine_embedding_loss");

/** By how much anchor fails to be closer to positive than to negative by margin, in the p-norm; with swap, the distance between positive and negative is used if it is smaller. */
export const tripletMarginLoss: {
  (anchor: Tensor, positive: Tensor, negative: Tensor, margin?: number, p?: number, eps?: number, swap?: boolean, reduction?: "none" | "mean" | "sum"): Tensor;
  (anchor: Tensor, positive: Tensor, negative: Tensor, options: { margin?: number; p?: number; eps?: number; swap?: boolean; reduction?: "none" | "mean" | "sum" }): Tensor;
  (anchor: Tensor, positive: Tensor, negative: Tensor, margin: number, options: { p?: number; eps?: number; swap?: boolean; reduction?: "none" | "mean" | "sum" }): Tensor;
  (anchor: Tensor, positive: Tensor, negative: Tensor, margin: number, p: number, options: { eps?: number; swap?: boolean; reduction?: "none" | "mean" | "sum" }): Tensor;
  (anchor: Tensor, positive: Tensor, negative: Tensor, margin: number, p: number, eps: number, options: { swap?: boolean; reduction?: "none" | "mean" | "sum" }): Tensor;
  (anchor: Tensor, positive: Tensor, negative: Tensor, margin: number, p: number, eps: number, swap: boolean, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = define("triplet_margin_loss");

/** By how much the scores of the other classes come within margin of the target's, to the power p (1 or 2), divided by the number of classes. */
export const multiMarginLoss: {
  (input: Tensor, target: Tensor, p?: number, margin?: number, weight?: Tensor | null, reduction?: "none" | "mean" | "sum"): Tensor;
  (input: Tensor, target: Tensor, options: { p?: number; margin?: number; weight?: Tensor | null; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input: Tensor, target: Tensor, p: number, options: { margin?: number; weight?: Tensor | null; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input: Tensor, target: Tensor, p: number, margin: number, options: { weight?: Tensor | null; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input: Tensor, target: Tensor, p: number, margin: number, weight: Tensor | null, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = define("multi_margin_loss");

/** By how much the scores of other classes come within one of the targets', divided by the number of classes. A row of target lists classes up to the first negative number. */
export const multilabelMarginLoss: {
  (input: Tensor, target: Tensor, reduction?: "none" | "mean" | "sum"): Tensor;
  (input: Tensor, target: Tensor, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = define("multilabel_margin_loss");

/** Cross entropy of independent classes from their logits, as a mean over the classes. */
export const multilabelSoftMarginLoss: {
  (input: Tensor, target: Tensor, weight?: Tensor | null, reduction?: "none" | "mean" | "sum"): Tensor;
  (input: Tensor, target: Tensor, options: { weight?: Tensor | null; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input: Tensor, target: Tensor, weight: Tensor | null, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = define("multilabel_soft_margin_loss");

/** Negative log likelihood of counts whose rate, or its logarithm, is the input. */
export const poissonNllLoss: {
  (input: Tensor, target: Tensor, logInput?: boolean, full?: boolean, eps?: number, reduction?: "none" | "mean" | "sum"): Tensor;
  (input: Tensor, target: Tensor, options: { logInput?: boolean; full?: boolean; eps?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input: Tensor, target: Tensor, logInput: boolean, options: { full?: boolean; eps?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input: Tensor, target: Tensor, logInput: boolean, full: boolean, options: { eps?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input: Tensor, target: Tensor, logInput: boolean, full: boolean, eps: number, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = define("poisson_nll_loss");

/** Negative log likelihood of target under normal distributions with the mean input and the variance var, of at least eps. */
export const gaussianNllLoss: {
  (input: Tensor, target: Tensor, var_: Operand, full?: boolean, eps?: number, reduction?: "none" | "mean" | "sum"): Tensor;
  (input: Tensor, target: Tensor, var_: Operand, options: { full?: boolean; eps?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input: Tensor, target: Tensor, var_: Operand, full: boolean, options: { eps?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  (input: Tensor, target: Tensor, var_: Operand, full: boolean, eps: number, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
} = define("gaussian_nll_loss");

/** Product of two matrices. */
export const mm: {
  (input: Tensor, mat2: Tensor): Tensor;
} = define("mm");

/** Products of two batches of matrices, pair by pair. */
export const bmm: {
  (input: Tensor, mat2: Tensor): Tensor;
} = define("bmm");

/** Product of a matrix and a vector. */
export const mv: {
  (input: Tensor, vec: Tensor): Tensor;
} = define("mv");

/** Sum of the products of the elements of two vectors. */
export const dot: {
  (input: Tensor, tensor: Tensor): Tensor;
} = define("dot");

/** Matrix product over the last two dims; leading dims broadcast, vectors are promoted. */
export const matmul: {
  (input: Tensor, other: Tensor): Tensor;
} = define("matmul");

/** beta * input + alpha * (mat1 @ mat2); input broadcasts, and is not read when beta is 0. */
export const addmm: {
  (input: Tensor, mat1: Tensor, mat2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  (input: Tensor, mat1: Tensor, mat2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  (input: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
} = define("addmm");

/** Like addmm(), but writes the result into input and returns it. */
export const addmm_: {
  (input: Tensor, mat1: Tensor, mat2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  (input: Tensor, mat1: Tensor, mat2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  (input: Tensor, mat1: Tensor, mat2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
} = defineInPlace("addmm");

/** addmm for every matrix of a batch. */
export const baddbmm: {
  (input: Tensor, batch1: Tensor, batch2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  (input: Tensor, batch1: Tensor, batch2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  (input: Tensor, batch1: Tensor, batch2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
} = define("baddbmm");

/** Like baddbmm(), but writes the result into input and returns it. */
export const baddbmm_: {
  (input: Tensor, batch1: Tensor, batch2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  (input: Tensor, batch1: Tensor, batch2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  (input: Tensor, batch1: Tensor, batch2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
} = defineInPlace("baddbmm");

/** input @ weightᵀ + bias over the last dim, for any leading dims. */
export const linear: {
  (input: Tensor, weight: Tensor, bias?: Tensor | null): Tensor;
  (input: Tensor, weight: Tensor, options: { bias?: Tensor | null }): Tensor;
} = define("linear");

/** input1 @ weight[o] @ input2 + bias[o] for every output o. */
export const bilinear: {
  (input1: Tensor, input2: Tensor, weight: Tensor, bias?: Tensor | null): Tensor;
  (input1: Tensor, input2: Tensor, weight: Tensor, options: { bias?: Tensor | null }): Tensor;
} = define("bilinear");

/** Every element of one vector times every element of another. */
export const outer: {
  (input: Tensor, vec2: Tensor): Tensor;
} = define("outer");

/** The codes of 4 or 8 bits and the scales by which dequantize comes closest to a matrix; groupSize columns of a row (default: all) share a scale. Has no gradient. */
export const quantize: {
  (input: Tensor, bits?: number, groupSize?: number | null): [codes: Tensor, scale: Tensor];
  (input: Tensor, options: { bits?: number; groupSize?: number | null }): [codes: Tensor, scale: Tensor];
  (input: Tensor, bits: number, options: { groupSize?: number | null }): [codes: Tensor, scale: Tensor];
} = define("quantize");

/** The numbers of a matrix of 4 or 8 bits: (code - 2^(bits - 1)) * scale, where groupSize columns of a row (default: all) share a scale; with 4 bits a byte has two columns, the lower bits first. */
export const dequantize: {
  (input: Tensor, scale: Tensor, bits?: number, groupSize?: number | null): Tensor;
  (input: Tensor, scale: Tensor, options: { bits?: number; groupSize?: number | null }): Tensor;
  (input: Tensor, scale: Tensor, bits: number, options: { groupSize?: number | null }): Tensor;
} = define("dequantize");

/** linear with a weight that dequantize describes, whose numbers exist only block by block. */
export const quantizedLinear: {
  (input: Tensor, weight: Tensor, scale: Tensor, bias?: Tensor | null, bits?: number, groupSize?: number | null): Tensor;
  (input: Tensor, weight: Tensor, scale: Tensor, options: { bias?: Tensor | null; bits?: number; groupSize?: number | null }): Tensor;
  (input: Tensor, weight: Tensor, scale: Tensor, bias: Tensor | null, options: { bits?: number; groupSize?: number | null }): Tensor;
  (input: Tensor, weight: Tensor, scale: Tensor, bias: Tensor | null, bits: number, options: { groupSize?: number | null }): Tensor;
} = define("quantized_linear");

/** Determinant of every square matrix. */
export const det: {
  (input: Tensor): Tensor;
} = define("det");

/** `[sign, logabsdet]`: the determinant as sign, of complex matrices a number of magnitude 1, and logarithm of its magnitude. */
export const slogdet: {
  (input: Tensor): [sign: Tensor, logabsdet: Tensor];
} = define("slogdet");

/** Inverse of every square matrix. */
export const inverse: {
  (input: Tensor): Tensor;
} = define("inverse");

/** The lower triangular L with input = L Lᴴ for positive-definite matrices; with upper, Lᴴ. */
export const cholesky: {
  (input: Tensor, upper?: boolean): Tensor;
  (input: Tensor, options: { upper?: boolean }): Tensor;
} = define("cholesky");

/** The X with A X = B, or with X A = B if left is false; B is a matrix or a vector. */
export const solve: {
  (A: Tensor, B: Tensor, left?: boolean): Tensor;
  (A: Tensor, B: Tensor, options: { left?: boolean }): Tensor;
} = define("solve");

/** Kronecker product: the blocks are other times each element of input. */
export const kron: {
  (input: Tensor, other: Tensor): Tensor;
} = define("kron");

/** Cross product of the vectors of size 3 along dim. */
export const cross: {
  (input: Tensor, other: Tensor, dim?: number): Tensor;
  (input: Tensor, other: Tensor, options: { dim?: number }): Tensor;
} = define("cross");

/** [Q, R] with A = Q R: Q has orthonormal columns and R is upper triangular. */
export const qr: {
  (A: Tensor, mode?: "reduced" | "complete" | "r"): [Q: Tensor, R: Tensor];
  (A: Tensor, options: { mode?: "reduced" | "complete" | "r" }): [Q: Tensor, R: Tensor];
} = define("qr");

/** [U, S, Vh] with A = U diag(S) Vh: U and V have orthonormal columns, and S descends. With fullMatrices U and Vh are square. */
export const svd: {
  (A: Tensor, fullMatrices?: boolean): [U: Tensor, S: Tensor, Vh: Tensor];
  (A: Tensor, options: { fullMatrices?: boolean }): [U: Tensor, S: Tensor, Vh: Tensor];
} = define("svd");

/** The singular values of A in descending order. */
export const svdvals: {
  (A: Tensor): Tensor;
} = define("svdvals");

/** [L, V] with A V = V diag(L) for a Hermitian A, of which only the triangle UPLO is read: ascending eigenvalues and orthonormal eigenvectors. */
export const eigh: {
  (A: Tensor, UPLO?: "L" | "U"): [L: Tensor, V: Tensor];
  (A: Tensor, options: { UPLO?: "L" | "U" }): [L: Tensor, V: Tensor];
} = define("eigh");

/** The eigenvalues of Hermitian matrices in ascending order. */
export const eigvalsh: {
  (A: Tensor, UPLO?: "L" | "U"): Tensor;
  (A: Tensor, options: { UPLO?: "L" | "U" }): Tensor;
} = define("eigvalsh");

/** [L, V] with A V = V diag(L) for any square A: eigenvalues in no particular order and eigenvectors of length 1, complex even for real A. */
export const eig: {
  (A: Tensor): [L: Tensor, V: Tensor];
} = define("eig");

/** The eigenvalues of square matrices, in no particular order. */
export const eigvals: {
  (A: Tensor): Tensor;
} = define("eigvals");

/** The X with A X = B, or with X A = B if left is false, for a triangular A. The other triangle is not read; with unitriangular, the diagonal counts as 1 and is not read either. */
export const solveTriangular: {
  (A: Tensor, B: Tensor, upper: boolean, left?: boolean, unitriangular?: boolean): Tensor;
  (A: Tensor, B: Tensor, upper: boolean, options: { left?: boolean; unitriangular?: boolean }): Tensor;
  (A: Tensor, B: Tensor, upper: boolean, left: boolean, options: { unitriangular?: boolean }): Tensor;
} = define("solve_triangular");

/** `[LU, pivots]`: the LU factors of A with row exchanges in one matrix, L below the diagonal, and the exchanged rows, counted from 1. */
export const luFactor: {
  (A: Tensor, pivot?: boolean): [LU: Tensor, pivots: Tensor];
  (A: Tensor, options: { pivot?: boolean }): [LU: Tensor, pivots: Tensor];
} = define("lu_factor");

/** [P, L, U] with A = P L U: a permutation and two triangular matrices; L has ones on its diagonal. */
export const lu: {
  (A: Tensor, pivot?: boolean): [P: Tensor, L: Tensor, U: Tensor];
  (A: Tensor, options: { pivot?: boolean }): [P: Tensor, L: Tensor, U: Tensor];
} = define("lu");

/** The pseudo-inverse: singular values of at most max(atol, rtol * largest) count as zero. With hermitian, A is its own adjoint. */
export const pinv: {
  (A: Tensor, atol?: number | null, rtol?: number | null, hermitian?: boolean): Tensor;
  (A: Tensor, options: { atol?: number | null; rtol?: number | null; hermitian?: boolean }): Tensor;
  (A: Tensor, atol: number | null, options: { rtol?: number | null; hermitian?: boolean }): Tensor;
  (A: Tensor, atol: number | null, rtol: number | null, options: { hermitian?: boolean }): Tensor;
} = define("pinv");

/** `[solution, residuals, rank, singularValues]`: the X of least norm that minimizes |A X - B|. Squared residuals are returned for a tall A of full rank by all drivers but gelsy, singular values by gelsd and gelss, and the rank by all but gels. */
export const lstsq: {
  (A: Tensor, B: Tensor, rcond?: number | null, driver?: "gelsy" | "gels" | "gelsd" | "gelss"): [solution: Tensor, residuals: Tensor, rank: Tensor, singularValues: Tensor];
  (A: Tensor, B: Tensor, options: { rcond?: number | null; driver?: "gelsy" | "gels" | "gelsd" | "gelss" }): [solution: Tensor, residuals: Tensor, rank: Tensor, singularValues: Tensor];
  (A: Tensor, B: Tensor, rcond: number | null, options: { driver?: "gelsy" | "gels" | "gelsd" | "gelss" }): [solution: Tensor, residuals: Tensor, rank: Tensor, singularValues: Tensor];
} = define("lstsq");

/** beta * input + alpha * (mat @ vec). */
export const addmv: {
  (input: Tensor, mat: Tensor, vec: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  (input: Tensor, mat: Tensor, vec: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  (input: Tensor, mat: Tensor, vec: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
} = define("addmv");

/** Like addmv(), but writes the result into input and returns it. */
export const addmv_: {
  (input: Tensor, mat: Tensor, vec: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  (input: Tensor, mat: Tensor, vec: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  (input: Tensor, mat: Tensor, vec: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
} = defineInPlace("addmv");

/** beta * input + alpha * outer(vec1, vec2). */
export const addr: {
  (input: Tensor, vec1: Tensor, vec2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  (input: Tensor, vec1: Tensor, vec2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  (input: Tensor, vec1: Tensor, vec2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
} = define("addr");

/** Like addr(), but writes the result into input and returns it. */
export const addr_: {
  (input: Tensor, vec1: Tensor, vec2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  (input: Tensor, vec1: Tensor, vec2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  (input: Tensor, vec1: Tensor, vec2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
} = defineInPlace("addr");

/** beta * input + alpha * the sum over a batch of matrix products. */
export const addbmm: {
  (input: Tensor, batch1: Tensor, batch2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  (input: Tensor, batch1: Tensor, batch2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  (input: Tensor, batch1: Tensor, batch2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
} = define("addbmm");

/** Like addbmm(), but writes the result into input and returns it. */
export const addbmm_: {
  (input: Tensor, batch1: Tensor, batch2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  (input: Tensor, batch1: Tensor, batch2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  (input: Tensor, batch1: Tensor, batch2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
} = defineInPlace("addbmm");

/** input with slices along dim of a p-norm above maxnorm scaled down to maxnorm. */
export const renorm: {
  (input: Tensor, p: number, dim: number, maxnorm: number): Tensor;
} = define("renorm");

/** Like renorm(), but writes the result into input and returns it. */
export const renorm_: {
  (input: Tensor, p: number, dim: number, maxnorm: number): Tensor;
} = defineInPlace("renorm");

/** Subtracts the mean and divides by the standard deviation over the last dims, then scales and shifts. */
export const layerNorm: {
  (input: Tensor, normalizedShape: Ints, weight?: Tensor | null, bias?: Tensor | null, eps?: number): Tensor;
  (input: Tensor, normalizedShape: Ints, options: { weight?: Tensor | null; bias?: Tensor | null; eps?: number }): Tensor;
  (input: Tensor, normalizedShape: Ints, weight: Tensor | null, options: { bias?: Tensor | null; eps?: number }): Tensor;
  (input: Tensor, normalizedShape: Ints, weight: Tensor | null, bias: Tensor | null, options: { eps?: number }): Tensor;
} = define("layer_norm");

/** Divides by the root mean square over the last dims, then scales; the default eps is the epsilon of the dtype. */
export const rmsNorm: {
  (input: Tensor, normalizedShape: Ints, weight?: Tensor | null, eps?: number | null): Tensor;
  (input: Tensor, normalizedShape: Ints, options: { weight?: Tensor | null; eps?: number | null }): Tensor;
  (input: Tensor, normalizedShape: Ints, weight: Tensor | null, options: { eps?: number | null }): Tensor;
} = define("rms_norm");

/** Normalizes every channel by its mean and variance over the batch, or by the running ones; in training, the running ones are updated with momentum. */
export const batchNorm: {
  (input: Tensor, runningMean: Tensor | null, runningVar: Tensor | null, weight?: Tensor | null, bias?: Tensor | null, training?: boolean, momentum?: number, eps?: number): Tensor;
  (input: Tensor, runningMean: Tensor | null, runningVar: Tensor | null, options: { weight?: Tensor | null; bias?: Tensor | null; training?: boolean; momentum?: number; eps?: number }): Tensor;
  (input: Tensor, runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, options: { bias?: Tensor | null; training?: boolean; momentum?: number; eps?: number }): Tensor;
  (input: Tensor, runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, bias: Tensor | null, options: { training?: boolean; momentum?: number; eps?: number }): Tensor;
  (input: Tensor, runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, bias: Tensor | null, training: boolean, options: { momentum?: number; eps?: number }): Tensor;
  (input: Tensor, runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, bias: Tensor | null, training: boolean, momentum: number, options: { eps?: number }): Tensor;
} = define("batch_norm");

/** Normalizes groups of channels of every sample, then scales and shifts every channel. */
export const groupNorm: {
  (input: Tensor, numGroups: number, weight?: Tensor | null, bias?: Tensor | null, eps?: number): Tensor;
  (input: Tensor, numGroups: number, options: { weight?: Tensor | null; bias?: Tensor | null; eps?: number }): Tensor;
  (input: Tensor, numGroups: number, weight: Tensor | null, options: { bias?: Tensor | null; eps?: number }): Tensor;
  (input: Tensor, numGroups: number, weight: Tensor | null, bias: Tensor | null, options: { eps?: number }): Tensor;
} = define("group_norm");

/** Normalizes every channel of every sample by its own statistics, or by running ones. */
export const instanceNorm: {
  (input: Tensor, runningMean?: Tensor | null, runningVar?: Tensor | null, weight?: Tensor | null, bias?: Tensor | null, useInputStats?: boolean, momentum?: number, eps?: number): Tensor;
  (input: Tensor, options: { runningMean?: Tensor | null; runningVar?: Tensor | null; weight?: Tensor | null; bias?: Tensor | null; useInputStats?: boolean; momentum?: number; eps?: number }): Tensor;
  (input: Tensor, runningMean: Tensor | null, options: { runningVar?: Tensor | null; weight?: Tensor | null; bias?: Tensor | null; useInputStats?: boolean; momentum?: number; eps?: number }): Tensor;
  (input: Tensor, runningMean: Tensor | null, runningVar: Tensor | null, options: { weight?: Tensor | null; bias?: Tensor | null; useInputStats?: boolean; momentum?: number; eps?: number }): Tensor;
  (input: Tensor, runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, options: { bias?: Tensor | null; useInputStats?: boolean; momentum?: number; eps?: number }): Tensor;
  (input: Tensor, runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, bias: Tensor | null, options: { useInputStats?: boolean; momentum?: number; eps?: number }): Tensor;
  (input: Tensor, runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, bias: Tensor | null, useInputStats: boolean, options: { momentum?: number; eps?: number }): Tensor;
  (input: Tensor, runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, bias: Tensor | null, useInputStats: boolean, momentum: number, options: { eps?: number }): Tensor;
} = define("instance_norm");

/** Vectors along dim divided by their p-norm, or by eps if larger. */
export const normalize: {
  (input: Tensor, p?: number, dim?: Ints, eps?: number): Tensor;
  (input: Tensor, options: { p?: number; dim?: Ints; eps?: number }): Tensor;
  (input: Tensor, p: number, options: { dim?: Ints; eps?: number }): Tensor;
  (input: Tensor, p: number, dim: Ints, options: { eps?: number }): Tensor;
} = define("normalize");

/** The cosine of the angle between vectors along dim. */
export const cosineSimilarity: {
  (x1: Tensor, x2: Tensor, dim?: number, eps?: number): Tensor;
  (x1: Tensor, x2: Tensor, options: { dim?: number; eps?: number }): Tensor;
  (x1: Tensor, x2: Tensor, dim: number, options: { eps?: number }): Tensor;
} = define("cosine_similarity");

/** The p-norm of x1 - x2 + eps along the last dimension. */
export const pairwiseDistance: {
  (x1: Tensor, x2: Tensor, p?: number, eps?: number, keepdim?: boolean): Tensor;
  (x1: Tensor, x2: Tensor, options: { p?: number; eps?: number; keepdim?: boolean }): Tensor;
  (x1: Tensor, x2: Tensor, p: number, options: { eps?: number; keepdim?: boolean }): Tensor;
  (x1: Tensor, x2: Tensor, p: number, eps: number, options: { keepdim?: boolean }): Tensor;
} = define("pairwise_distance");

/** The p-norms between the rows of x1 and those of x2. */
export const cdist: {
  (x1: Tensor, x2: Tensor, p?: number): Tensor;
  (x1: Tensor, x2: Tensor, options: { p?: number }): Tensor;
} = define("cdist");

/** The first half along dim times the sigmoid of the second half. */
export const glu: {
  (input: Tensor, dim?: number): Tensor;
  (input: Tensor, options: { dim?: number }): Tensor;
} = define("glu");

/** input with elements added before and after each dimension, as listed in pad from the last dimension on; negative numbers remove elements. */
export const pad: {
  (input: Tensor, pad: Ints, mode?: "constant" | "reflect" | "replicate" | "circular", value?: number | null): Tensor;
  (input: Tensor, pad: Ints, options: { mode?: "constant" | "reflect" | "replicate" | "circular"; value?: number | null }): Tensor;
  (input: Tensor, pad: Ints, mode: "constant" | "reflect" | "replicate" | "circular", options: { value?: number | null }): Tensor;
} = define("pad");

/** Resamples the dimensions after the channels to size or by scaleFactor. */
export const interpolate: {
  (input: Tensor, size?: Ints | null, scaleFactor?: number | readonly number[] | null, mode?: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear" | "nearest-exact" | "area", alignCorners?: boolean | null, recomputeScaleFactor?: boolean | null): Tensor;
  (input: Tensor, options: { size?: Ints | null; scaleFactor?: number | readonly number[] | null; mode?: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear" | "nearest-exact" | "area"; alignCorners?: boolean | null; recomputeScaleFactor?: boolean | null }): Tensor;
  (input: Tensor, size: Ints | null, options: { scaleFactor?: number | readonly number[] | null; mode?: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear" | "nearest-exact" | "area"; alignCorners?: boolean | null; recomputeScaleFactor?: boolean | null }): Tensor;
  (input: Tensor, size: Ints | null, scaleFactor: number | readonly number[] | null, options: { mode?: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear" | "nearest-exact" | "area"; alignCorners?: boolean | null; recomputeScaleFactor?: boolean | null }): Tensor;
  (input: Tensor, size: Ints | null, scaleFactor: number | readonly number[] | null, mode: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear" | "nearest-exact" | "area", options: { alignCorners?: boolean | null; recomputeScaleFactor?: boolean | null }): Tensor;
  (input: Tensor, size: Ints | null, scaleFactor: number | readonly number[] | null, mode: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear" | "nearest-exact" | "area", alignCorners: boolean | null, options: { recomputeScaleFactor?: boolean | null }): Tensor;
} = define("interpolate");

/** The largest element of windows along the last dim. */
export const maxPool1d: {
  (input: Tensor, kernelSize: Ints, stride?: Ints | null, padding?: Ints, dilation?: Ints, ceilMode?: boolean, returnIndices?: false): Tensor;
  (input: Tensor, kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: false }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: false }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, options: { dilation?: Ints; ceilMode?: boolean; returnIndices?: false }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, options: { ceilMode?: boolean; returnIndices?: false }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, options: { returnIndices?: false }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, returnIndices: true): [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, options: { dilation?: Ints; ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, options: { ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, options: { returnIndices: true }): [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride?: Ints | null, padding?: Ints, dilation?: Ints, ceilMode?: boolean, returnIndices?: boolean): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, options: { dilation?: Ints; ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, options: { ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, options: { returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
} = define("max_pool1d");

/** The largest element of windows over the last two dims; with returnIndices, also its index in the plane, -1 where a window holds only padding. */
export const maxPool2d: {
  (input: Tensor, kernelSize: Ints, stride?: Ints | null, padding?: Ints, dilation?: Ints, ceilMode?: boolean, returnIndices?: false): Tensor;
  (input: Tensor, kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: false }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: false }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, options: { dilation?: Ints; ceilMode?: boolean; returnIndices?: false }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, options: { ceilMode?: boolean; returnIndices?: false }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, options: { returnIndices?: false }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, returnIndices: true): [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, options: { dilation?: Ints; ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, options: { ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, options: { returnIndices: true }): [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride?: Ints | null, padding?: Ints, dilation?: Ints, ceilMode?: boolean, returnIndices?: boolean): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, options: { dilation?: Ints; ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, options: { ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, options: { returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
} = define("max_pool2d");

/** The mean of windows along the last dim. */
export const avgPool1d: {
  (input: Tensor, kernelSize: Ints, stride?: Ints | null, padding?: Ints, ceilMode?: boolean, countIncludePad?: boolean): Tensor;
  (input: Tensor, kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; ceilMode?: boolean; countIncludePad?: boolean }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; ceilMode?: boolean; countIncludePad?: boolean }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, options: { ceilMode?: boolean; countIncludePad?: boolean }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, ceilMode: boolean, options: { countIncludePad?: boolean }): Tensor;
} = define("avg_pool1d");

/** The mean of windows over the last two dims. */
export const avgPool2d: {
  (input: Tensor, kernelSize: Ints, stride?: Ints | null, padding?: Ints, ceilMode?: boolean, countIncludePad?: boolean, divisorOverride?: number | null): Tensor;
  (input: Tensor, kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; ceilMode?: boolean; countIncludePad?: boolean; divisorOverride?: number | null }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; ceilMode?: boolean; countIncludePad?: boolean; divisorOverride?: number | null }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, options: { ceilMode?: boolean; countIncludePad?: boolean; divisorOverride?: number | null }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, ceilMode: boolean, options: { countIncludePad?: boolean; divisorOverride?: number | null }): Tensor;
  (input: Tensor, kernelSize: Ints, stride: Ints | null, padding: Ints, ceilMode: boolean, countIncludePad: boolean, options: { divisorOverride?: number | null }): Tensor;
} = define("avg_pool2d");

/** The mean of windows chosen so that the result has outputSize. */
export const adaptiveAvgPool2d: {
  (input: Tensor, outputSize: OutputSize): Tensor;
} = define("adaptive_avg_pool2d");

/** The largest element of windows chosen so that the result has outputSize. */
export const adaptiveMaxPool2d: {
  (input: Tensor, outputSize: OutputSize, returnIndices?: false): Tensor;
  (input: Tensor, outputSize: OutputSize, options: { returnIndices?: false }): Tensor;
  (input: Tensor, outputSize: OutputSize, returnIndices: true): [values: Tensor, indices: Tensor];
  (input: Tensor, outputSize: OutputSize, options: { returnIndices: true }): [values: Tensor, indices: Tensor];
  (input: Tensor, outputSize: OutputSize, returnIndices?: boolean): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, outputSize: OutputSize, options: { returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
} = define("adaptive_max_pool2d");

/** Convolution over the last dim. */
export const conv1d: {
  (input: Tensor, weight: Tensor, bias?: Tensor | null, stride?: Ints, padding?: Ints | "valid" | "same", dilation?: Ints, groups?: number): Tensor;
  (input: Tensor, weight: Tensor, options: { bias?: Tensor | null; stride?: Ints; padding?: Ints | "valid" | "same"; dilation?: Ints; groups?: number }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, options: { stride?: Ints; padding?: Ints | "valid" | "same"; dilation?: Ints; groups?: number }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, options: { padding?: Ints | "valid" | "same"; dilation?: Ints; groups?: number }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints | "valid" | "same", options: { dilation?: Ints; groups?: number }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints | "valid" | "same", dilation: Ints, options: { groups?: number }): Tensor;
} = define("conv1d");

/** Convolution over the last two dims. */
export const conv2d: {
  (input: Tensor, weight: Tensor, bias?: Tensor | null, stride?: Ints, padding?: Ints | "valid" | "same", dilation?: Ints, groups?: number): Tensor;
  (input: Tensor, weight: Tensor, options: { bias?: Tensor | null; stride?: Ints; padding?: Ints | "valid" | "same"; dilation?: Ints; groups?: number }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, options: { stride?: Ints; padding?: Ints | "valid" | "same"; dilation?: Ints; groups?: number }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, options: { padding?: Ints | "valid" | "same"; dilation?: Ints; groups?: number }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints | "valid" | "same", options: { dilation?: Ints; groups?: number }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints | "valid" | "same", dilation: Ints, options: { groups?: number }): Tensor;
} = define("conv2d");

/** Transposed convolution over the last dim: the input gradient of conv1d. */
export const convTranspose1d: {
  (input: Tensor, weight: Tensor, bias?: Tensor | null, stride?: Ints, padding?: Ints, outputPadding?: Ints, groups?: number, dilation?: Ints): Tensor;
  (input: Tensor, weight: Tensor, options: { bias?: Tensor | null; stride?: Ints; padding?: Ints; outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, options: { stride?: Ints; padding?: Ints; outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, options: { padding?: Ints; outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints, options: { outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints, outputPadding: Ints, options: { groups?: number; dilation?: Ints }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints, outputPadding: Ints, groups: number, options: { dilation?: Ints }): Tensor;
} = define("conv_transpose1d");

/** Transposed convolution over the last two dims: the input gradient of conv2d. */
export const convTranspose2d: {
  (input: Tensor, weight: Tensor, bias?: Tensor | null, stride?: Ints, padding?: Ints, outputPadding?: Ints, groups?: number, dilation?: Ints): Tensor;
  (input: Tensor, weight: Tensor, options: { bias?: Tensor | null; stride?: Ints; padding?: Ints; outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, options: { stride?: Ints; padding?: Ints; outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, options: { padding?: Ints; outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints, options: { outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints, outputPadding: Ints, options: { groups?: number; dilation?: Ints }): Tensor;
  (input: Tensor, weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints, outputPadding: Ints, groups: number, options: { dilation?: Ints }): Tensor;
} = define("conv_transpose2d");

/** softmax(query keyᵀ * scale + mask) value; a bool mask is true where attention is allowed. */
export const scaledDotProductAttention: {
  (query: Tensor, key: Tensor, value: Tensor, attnMask?: Tensor | null, dropoutP?: number, isCausal?: boolean, scale?: number | null, enableGqa?: boolean): Tensor;
  (query: Tensor, key: Tensor, value: Tensor, options: { attnMask?: Tensor | null; dropoutP?: number; isCausal?: boolean; scale?: number | null; enableGqa?: boolean }): Tensor;
  (query: Tensor, key: Tensor, value: Tensor, attnMask: Tensor | null, options: { dropoutP?: number; isCausal?: boolean; scale?: number | null; enableGqa?: boolean }): Tensor;
  (query: Tensor, key: Tensor, value: Tensor, attnMask: Tensor | null, dropoutP: number, options: { isCausal?: boolean; scale?: number | null; enableGqa?: boolean }): Tensor;
  (query: Tensor, key: Tensor, value: Tensor, attnMask: Tensor | null, dropoutP: number, isCausal: boolean, options: { scale?: number | null; enableGqa?: boolean }): Tensor;
  (query: Tensor, key: Tensor, value: Tensor, attnMask: Tensor | null, dropoutP: number, isCausal: boolean, scale: number | null, options: { enableGqa?: boolean }): Tensor;
} = define("scaled_dot_product_attention");

/** `[values, indices]`: the elements along dim in order. */
export const sort: {
  (input: Tensor, dim?: number, descending?: boolean, stable?: boolean): [values: Tensor, indices: Tensor];
  (input: Tensor, options: { dim?: number; descending?: boolean; stable?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, dim: number, options: { descending?: boolean; stable?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, dim: number, descending: boolean, options: { stable?: boolean }): [values: Tensor, indices: Tensor];
} = define("sort");

/** The indices that put the elements along dim in order. */
export const argsort: {
  (input: Tensor, dim?: number, descending?: boolean, stable?: boolean): Tensor;
  (input: Tensor, options: { dim?: number; descending?: boolean; stable?: boolean }): Tensor;
  (input: Tensor, dim: number, options: { descending?: boolean; stable?: boolean }): Tensor;
  (input: Tensor, dim: number, descending: boolean, options: { stable?: boolean }): Tensor;
} = define("argsort");

/** The elements along the first dimension in order. */
export const msort: {
  (input: Tensor): Tensor;
} = define("msort");

/** `[values, indices]`: the k largest, or smallest, elements along dim, in order. */
export const topk: {
  (input: Tensor, k: number, dim?: number, largest?: boolean, sorted?: boolean): [values: Tensor, indices: Tensor];
  (input: Tensor, k: number, options: { dim?: number; largest?: boolean; sorted?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, k: number, dim: number, options: { largest?: boolean; sorted?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, k: number, dim: number, largest: boolean, options: { sorted?: boolean }): [values: Tensor, indices: Tensor];
} = define("topk");

/** `[values, indices]`: the k-th smallest element along dim, counted from one. */
export const kthvalue: {
  (input: Tensor, k: number, dim?: number, keepdim?: boolean): [values: Tensor, indices: Tensor];
  (input: Tensor, k: number, options: { dim?: number; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, k: number, dim: number, options: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
} = define("kthvalue");

/** The middle element, the lower one of two; along dim, [values, indices]. */
export const median: {
  (input: Tensor, dim?: null, keepdim?: boolean): Tensor;
  (input: Tensor, options: { dim?: null; keepdim?: boolean }): Tensor;
  (input: Tensor, dim: null, options: { keepdim?: boolean }): Tensor;
  (input: Tensor, dim: number, keepdim?: boolean): [values: Tensor, indices: Tensor];
  (input: Tensor, options: { dim: number; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, dim: number, options: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, dim?: number | null, keepdim?: boolean): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, options: { dim?: number | null; keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, dim: number | null, options: { keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
} = define("median");

/** The median of the elements that are not NaN; along dim, [values, indices]. */
export const nanmedian: {
  (input: Tensor, dim?: null, keepdim?: boolean): Tensor;
  (input: Tensor, options: { dim?: null; keepdim?: boolean }): Tensor;
  (input: Tensor, dim: null, options: { keepdim?: boolean }): Tensor;
  (input: Tensor, dim: number, keepdim?: boolean): [values: Tensor, indices: Tensor];
  (input: Tensor, options: { dim: number; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, dim: number, options: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, dim?: number | null, keepdim?: boolean): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, options: { dim?: number | null; keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  (input: Tensor, dim: number | null, options: { keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
} = define("nanmedian");

/** `[values, indices]`: the most frequent element along dim, or the smallest of those, and the index of its last occurrence. */
export const mode: {
  (input: Tensor, dim?: number, keepdim?: boolean): [values: Tensor, indices: Tensor];
  (input: Tensor, options: { dim?: number; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  (input: Tensor, dim: number, options: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
} = define("mode");

/** `[values, indices]`: running maxima along dim; of equal elements, the last. */
export const cummax: {
  (input: Tensor, dim: number): [values: Tensor, indices: Tensor];
} = define("cummax");

/** `[values, indices]`: running minima along dim; of equal elements, the last. */
export const cummin: {
  (input: Tensor, dim: number): [values: Tensor, indices: Tensor];
} = define("cummin");

/** Running sums along dim. */
export const cumsum: {
  (input: Tensor, dim: number, dtype?: DType | null): Tensor;
  (input: Tensor, dim: number, options: { dtype?: DType | null }): Tensor;
} = define("cumsum");

/** Like cumsum(), but writes the result into input and returns it. */
export const cumsum_: {
  (input: Tensor, dim: number, dtype?: DType | null): Tensor;
  (input: Tensor, dim: number, options: { dtype?: DType | null }): Tensor;
} = defineInPlace("cumsum");

/** Running products along dim. */
export const cumprod: {
  (input: Tensor, dim: number, dtype?: DType | null): Tensor;
  (input: Tensor, dim: number, options: { dtype?: DType | null }): Tensor;
} = define("cumprod");

/** Like cumprod(), but writes the result into input and returns it. */
export const cumprod_: {
  (input: Tensor, dim: number, dtype?: DType | null): Tensor;
  (input: Tensor, dim: number, options: { dtype?: DType | null }): Tensor;
} = defineInPlace("cumprod");

/** Logarithms of running sums of exp(input) along dim. */
export const logcumsumexp: {
  (input: Tensor, dim: number): Tensor;
} = define("logcumsumexp");

/** Differences of neighbors along dim, taken n times; prepend and append are joined to input first. */
export const diff: {
  (input: Tensor, n?: number, dim?: number, prepend?: Tensor | null, append?: Tensor | null): Tensor;
  (input: Tensor, options: { n?: number; dim?: number; prepend?: Tensor | null; append?: Tensor | null }): Tensor;
  (input: Tensor, n: number, options: { dim?: number; prepend?: Tensor | null; append?: Tensor | null }): Tensor;
  (input: Tensor, n: number, dim: number, options: { prepend?: Tensor | null; append?: Tensor | null }): Tensor;
  (input: Tensor, n: number, dim: number, prepend: Tensor | null, options: { append?: Tensor | null }): Tensor;
} = define("diff");

/** Indices drawn at random from each row of input, whose elements are their weights. */
export const multinomial: {
  (input: Tensor, numSamples: number, replacement?: boolean, options?: GeneratorOption): Tensor;
  (input: Tensor, numSamples: number, options: { replacement?: boolean } & GeneratorOption): Tensor;
} = withGenerator(define("multinomial"));

/** Poisson samples with the rates in input. */
export const poisson: {
  (input: Tensor, options?: GeneratorOption): Tensor;
} = withGenerator(define("poisson"));

/** The number of successes in count random trials of probability prob. */
export const binomial: {
  (count: Tensor, prob: Tensor, options?: GeneratorOption): Tensor;
} = withGenerator(define("binomial"));

/** Normal random numbers, each with its own mean and standard deviation. */
export const normal: {
  (mean: Operand, std?: Operand, size?: Ints | null, options?: TensorOptions & GeneratorOption): Tensor;
  (mean: Operand, options: { std?: Operand; size?: Ints | null } & TensorOptions & GeneratorOption): Tensor;
  (mean: Operand, std: Operand, options: { size?: Ints | null } & TensorOptions & GeneratorOption): Tensor;
} = withGenerator(defineFactory("normal"));

/** Leaky ReLU whose slopes are random numbers in [lower, upper) in training. */
export const rrelu: {
  (input: Tensor, lower?: number, upper?: number, training?: boolean): Tensor;
  (input: Tensor, options: { lower?: number; upper?: number; training?: boolean }): Tensor;
  (input: Tensor, lower: number, options: { upper?: number; training?: boolean }): Tensor;
  (input: Tensor, lower: number, upper: number, options: { training?: boolean }): Tensor;
} = define("rrelu");

/** Sets the elements of input to the number of trials up to the first success. */
export const geometric_: {
  (input: Tensor, p: number, options?: GeneratorOption): Tensor;
} = withGenerator(defineInPlace("geometric_"));

/** Sets the elements of input to Cauchy samples. */
export const cauchy_: {
  (input: Tensor, median?: number, sigma?: number, options?: GeneratorOption): Tensor;
  (input: Tensor, options: { median?: number; sigma?: number } & GeneratorOption): Tensor;
  (input: Tensor, median: number, options: { sigma?: number } & GeneratorOption): Tensor;
} = withGenerator(defineInPlace("cauchy_"));

/** Sets the elements of input to log-normal samples. */
export const logNormal_: {
  (input: Tensor, mean?: number, std?: number, options?: GeneratorOption): Tensor;
  (input: Tensor, options: { mean?: number; std?: number } & GeneratorOption): Tensor;
  (input: Tensor, mean: number, options: { std?: number } & GeneratorOption): Tensor;
} = withGenerator(defineInPlace("log_normal_"));

/** A real view of a complex tensor, with a last dimension of size two for the real and imaginary parts. */
export const viewAsReal: {
  (input: Tensor): Tensor;
} = define("view_as_real");

/** A complex view of a real tensor whose last dimension, of size two, holds real and imaginary parts. */
export const viewAsComplex: {
  (input: Tensor): Tensor;
} = define("view_as_complex");

/** A view of the real parts; for a real tensor, itself. */
export const real: {
  (input: Tensor): Tensor;
} = define("real");

/** A view of the imaginary parts of a complex tensor. */
export const imag: {
  (input: Tensor): Tensor;
} = define("imag");

/** The complex conjugate of every element; for a real tensor, itself. */
export const conj: {
  (input: Tensor): Tensor;
} = define("conj");

/** The argument of every element in radians, in [-pi, pi]; for real numbers 0 or, if negative, pi. */
export const angle: {
  (input: Tensor): Tensor;
} = define("angle");

/** The complex numbers real + i imag, with broadcasting. */
export const complex: {
  (real: Tensor, imag: Tensor): Tensor;
} = define("complex");

/** Complex numbers of magnitude abs and argument angle, in radians. */
export const polar: {
  (abs: Tensor, angle: Tensor): Tensor;
} = define("polar");

/** Discrete Fourier transform along dim, of input cut or zero-padded to size n. */
export const fft: {
  (input: Tensor, n?: number | null, dim?: number, norm?: "backward" | "ortho" | "forward"): Tensor;
  (input: Tensor, options: { n?: number | null; dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  (input: Tensor, n: number | null, options: { dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  (input: Tensor, n: number | null, dim: number, options: { norm?: "backward" | "ortho" | "forward" }): Tensor;
} = define("fft");

/** The inverse of fft. */
export const ifft: {
  (input: Tensor, n?: number | null, dim?: number, norm?: "backward" | "ortho" | "forward"): Tensor;
  (input: Tensor, options: { n?: number | null; dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  (input: Tensor, n: number | null, options: { dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  (input: Tensor, n: number | null, dim: number, options: { norm?: "backward" | "ortho" | "forward" }): Tensor;
} = define("ifft");

/** fft of real numbers without the second half of the result, which mirrors the first. */
export const rfft: {
  (input: Tensor, n?: number | null, dim?: number, norm?: "backward" | "ortho" | "forward"): Tensor;
  (input: Tensor, options: { n?: number | null; dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  (input: Tensor, n: number | null, options: { dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  (input: Tensor, n: number | null, dim: number, options: { norm?: "backward" | "ortho" | "forward" }): Tensor;
} = define("rfft");

/** The inverse of rfft: n real numbers, by default 2 (size - 1). Imaginary parts that the spectrum of a real signal cannot have are ignored. */
export const irfft: {
  (input: Tensor, n?: number | null, dim?: number, norm?: "backward" | "ortho" | "forward"): Tensor;
  (input: Tensor, options: { n?: number | null; dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  (input: Tensor, n: number | null, options: { dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  (input: Tensor, n: number | null, dim: number, options: { norm?: "backward" | "ortho" | "forward" }): Tensor;
} = define("irfft");
