// Written by scripts/generating/generate_ops.mjs from op_table.json. Do not edit.

import type { GeneratorOption } from "../arguments/generator.js";
import type { Ints, Operand, OutputSize, Scalar } from "../dispatch/types.js";
import type { Complex, DType } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";

/** The ops as methods: the tensor is their first argument, or what PyTorch calls them on. */
export interface TensorMethods {
  /** input + alpha * other, with broadcasting. */
  add(other: Operand, alpha?: number | Complex): Tensor;
  add(other: Operand, options: { alpha?: number | Complex }): Tensor;
  /** Like add(), but in place. */
  add_(other: Operand, alpha?: number | Complex): this;
  add_(other: Operand, options: { alpha?: number | Complex }): this;
  /** input - alpha * other, with broadcasting. */
  sub(other: Operand, alpha?: number | Complex): Tensor;
  sub(other: Operand, options: { alpha?: number | Complex }): Tensor;
  /** Like sub(), but in place. */
  sub_(other: Operand, alpha?: number | Complex): this;
  sub_(other: Operand, options: { alpha?: number | Complex }): this;
  /** Elementwise product, with broadcasting. */
  mul(other: Operand): Tensor;
  /** Like mul(), but in place. */
  mul_(other: Operand): this;
  /** Elementwise quotient; integers are divided as floats. */
  div(other: Operand, roundingMode?: null | "floor" | "trunc"): Tensor;
  div(other: Operand, options: { roundingMode?: null | "floor" | "trunc" }): Tensor;
  /** Like div(), but in place. */
  div_(other: Operand, roundingMode?: null | "floor" | "trunc"): this;
  div_(other: Operand, options: { roundingMode?: null | "floor" | "trunc" }): this;
  /** The negative of every element. */
  neg(): Tensor;
  /** Like neg(), but in place. */
  neg_(): this;
  /** 1 / x. */
  reciprocal(): Tensor;
  /** Like reciprocal(), but in place. */
  reciprocal_(): this;
  /** x * x. */
  square(): Tensor;
  /** Like square(), but in place. */
  square_(): this;
  /** Remainder of division, with the sign of input. */
  fmod(other: Operand): Tensor;
  /** Like fmod(), but in place. */
  fmod_(other: Operand): this;
  /** Remainder of division, with the sign of other. */
  remainder(other: Operand): Tensor;
  /** Like remainder(), but in place. */
  remainder_(other: Operand): this;
  /** Quotient rounded down to an integer. */
  floorDivide(other: Operand): Tensor;
  /** Like floorDivide(), but in place. */
  floorDivide_(other: Operand): this;
  /** input + weight * (end - input). */
  lerp(end: Operand, weight: Operand): Tensor;
  /** Like lerp(), but in place. */
  lerp_(end: Operand, weight: Operand): this;
  /** input + value * tensor1 * tensor2. */
  addcmul(tensor1: Operand, tensor2: Operand, value?: number | Complex): Tensor;
  addcmul(tensor1: Operand, tensor2: Operand, options: { value?: number | Complex }): Tensor;
  /** Like addcmul(), but in place. */
  addcmul_(tensor1: Operand, tensor2: Operand, value?: number | Complex): this;
  addcmul_(tensor1: Operand, tensor2: Operand, options: { value?: number | Complex }): this;
  /** input + value * tensor1 / tensor2. */
  addcdiv(tensor1: Operand, tensor2: Operand, value?: number | Complex): Tensor;
  addcdiv(tensor1: Operand, tensor2: Operand, options: { value?: number | Complex }): Tensor;
  /** Like addcdiv(), but in place. */
  addcdiv_(tensor1: Operand, tensor2: Operand, value?: number | Complex): this;
  addcdiv_(tensor1: Operand, tensor2: Operand, options: { value?: number | Complex }): this;
  /** True where the operands are equal. */
  eq(other: Operand): Tensor;
  /** Like eq(), but in place. */
  eq_(other: Operand): this;
  /** True where the operands differ. */
  ne(other: Operand): Tensor;
  /** Like ne(), but in place. */
  ne_(other: Operand): this;
  /** True where input is less than other. */
  lt(other: Operand): Tensor;
  /** Like lt(), but in place. */
  lt_(other: Operand): this;
  /** True where input is less than or equal to other. */
  le(other: Operand): Tensor;
  /** Like le(), but in place. */
  le_(other: Operand): this;
  /** True where input is greater than other. */
  gt(other: Operand): Tensor;
  /** Like gt(), but in place. */
  gt_(other: Operand): this;
  /** True where input is greater than or equal to other. */
  ge(other: Operand): Tensor;
  /** Like ge(), but in place. */
  ge_(other: Operand): this;
  /** True where both operands are nonzero. */
  logicalAnd(other: Operand): Tensor;
  /** Like logicalAnd(), but in place. */
  logicalAnd_(other: Operand): this;
  /** True where at least one operand is nonzero. */
  logicalOr(other: Operand): Tensor;
  /** Like logicalOr(), but in place. */
  logicalOr_(other: Operand): this;
  /** True where exactly one operand is nonzero. */
  logicalXor(other: Operand): Tensor;
  /** Like logicalXor(), but in place. */
  logicalXor_(other: Operand): this;
  /** True where input is zero. */
  logicalNot(): Tensor;
  /** Like logicalNot(), but in place. */
  logicalNot_(): this;
  /** True for negative numbers, including -0. */
  signbit(): Tensor;
  /** True where input is NaN. */
  isnan(): Tensor;
  /** True where input is infinite. */
  isinf(): Tensor;
  /** True where input is neither infinite nor NaN. */
  isfinite(): Tensor;
  /** input where condition is true, other elsewhere. */
  where(condition: Operand, other: Operand): Tensor;
  /** value where mask is true, input elsewhere. */
  maskedFill(mask: Operand, value: Operand): Tensor;
  /** Like maskedFill(), but in place. */
  maskedFill_(mask: Operand, value: Operand): this;
  /** The larger of two operands; NaN if either is NaN. */
  maximum(other: Operand): Tensor;
  /** Like maximum(), but in place. */
  maximum_(other: Operand): this;
  /** The smaller of two operands; NaN if either is NaN. */
  minimum(other: Operand): Tensor;
  /** Like minimum(), but in place. */
  minimum_(other: Operand): this;
  /** The larger of two operands; a number is preferred to NaN. */
  fmax(other: Operand): Tensor;
  /** Like fmax(), but in place. */
  fmax_(other: Operand): this;
  /** The smaller of two operands; a number is preferred to NaN. */
  fmin(other: Operand): Tensor;
  /** Like fmin(), but in place. */
  fmin_(other: Operand): this;
  /** input clamped to [min, max]; max if min is greater than max. */
  clamp(min?: Operand | null, max?: Operand | null): Tensor;
  clamp(options: { min?: Operand | null; max?: Operand | null }): Tensor;
  clamp(min: Operand | null, options: { max?: Operand | null }): Tensor;
  /** Like clamp(), but in place. */
  clamp_(min?: Operand | null, max?: Operand | null): this;
  clamp_(options: { min?: Operand | null; max?: Operand | null }): this;
  clamp_(min: Operand | null, options: { max?: Operand | null }): this;
  /** input, but at least min. */
  clampMin(min: Operand): Tensor;
  /** Like clampMin(), but in place. */
  clampMin_(min: Operand): this;
  /** input, but at most max. */
  clampMax(max: Operand): Tensor;
  /** Like clampMax(), but in place. */
  clampMax_(max: Operand): this;
  /** 0 for negative numbers, 1 for positive ones, values at 0. */
  heaviside(values: Operand): Tensor;
  /** Like heaviside(), but in place. */
  heaviside_(values: Operand): this;
  /** Replaces NaN and infinities; by default with 0 and the largest numbers. */
  nanToNum(nan?: number | null, posinf?: number | null, neginf?: number | null): Tensor;
  nanToNum(options: { nan?: number | null; posinf?: number | null; neginf?: number | null }): Tensor;
  nanToNum(nan: number | null, options: { posinf?: number | null; neginf?: number | null }): Tensor;
  nanToNum(nan: number | null, posinf: number | null, options: { neginf?: number | null }): Tensor;
  /** Like nanToNum(), but in place. */
  nanToNum_(nan?: number | null, posinf?: number | null, neginf?: number | null): this;
  nanToNum_(options: { nan?: number | null; posinf?: number | null; neginf?: number | null }): this;
  nanToNum_(nan: number | null, options: { posinf?: number | null; neginf?: number | null }): this;
  nanToNum_(nan: number | null, posinf: number | null, options: { neginf?: number | null }): this;
  /** The magnitude of input with the sign of other. */
  copysign(other: Operand): Tensor;
  /** Like copysign(), but in place. */
  copysign_(other: Operand): this;
  /** Magnitude of every element. */
  abs(): Tensor;
  /** Like abs(), but in place. */
  abs_(): this;
  /** The sign of every element: -1, 0 or 1. */
  sign(): Tensor;
  /** Like sign(), but in place. */
  sign_(): this;
  /** sign; for complex numbers, the number divided by its magnitude. */
  sgn(): Tensor;
  /** Like sgn(), but in place. */
  sgn_(): this;
  /** The largest integer that is at most the element. */
  floor(): Tensor;
  /** Like floor(), but in place. */
  floor_(): this;
  /** The smallest integer that is at least the element. */
  ceil(): Tensor;
  /** Like ceil(), but in place. */
  ceil_(): this;
  /** Rounded to the given number of decimals; halves are rounded to even. */
  round(decimals?: number): Tensor;
  round(options: { decimals?: number }): Tensor;
  /** Like round(), but in place. */
  round_(decimals?: number): this;
  round_(options: { decimals?: number }): this;
  /** Rounded to an integer towards zero. */
  trunc(): Tensor;
  /** Like trunc(), but in place. */
  trunc_(): this;
  /** The fractional part: x - trunc(x). */
  frac(): Tensor;
  /** Like frac(), but in place. */
  frac_(): this;
  /** e to the power of every element. */
  exp(): Tensor;
  /** Like exp(), but in place. */
  exp_(): this;
  /** 2 to the power of every element. */
  exp2(): Tensor;
  /** Like exp2(), but in place. */
  exp2_(): this;
  /** exp(x) - 1, accurate near 0. */
  expm1(): Tensor;
  /** Like expm1(), but in place. */
  expm1_(): this;
  /** Natural logarithm of every element. */
  log(): Tensor;
  /** Like log(), but in place. */
  log_(): this;
  /** Logarithm of every element to base 2. */
  log2(): Tensor;
  /** Like log2(), but in place. */
  log2_(): this;
  /** Logarithm of every element to base 10. */
  log10(): Tensor;
  /** Like log10(), but in place. */
  log10_(): this;
  /** log(1 + x), accurate near 0. */
  log1p(): Tensor;
  /** Like log1p(), but in place. */
  log1p_(): this;
  /** Square root of every element. */
  sqrt(): Tensor;
  /** Like sqrt(), but in place. */
  sqrt_(): this;
  /** 1 / sqrt(x). */
  rsqrt(): Tensor;
  /** Like rsqrt(), but in place. */
  rsqrt_(): this;
  /** input to the power of exponent. */
  pow(exponent: Operand): Tensor;
  /** Like pow(), but in place. */
  pow_(exponent: Operand): this;
  /** log(exp(input) + exp(other)), without overflow. */
  logaddexp(other: Operand): Tensor;
  /** Like logaddexp(), but in place. */
  logaddexp_(other: Operand): this;
  /** log2(2^input + 2^other), without overflow. */
  logaddexp2(other: Operand): Tensor;
  /** Like logaddexp2(), but in place. */
  logaddexp2_(other: Operand): this;
  /** input * log(other); 0 where input is 0, unless other is NaN. */
  xlogy(other: Operand): Tensor;
  /** Like xlogy(), but in place. */
  xlogy_(other: Operand): this;
  /** input * log(1 + other); 0 where input is 0, unless other is NaN. */
  xlog1py(other: Operand): Tensor;
  /** Like xlog1py(), but in place. */
  xlog1py_(other: Operand): this;
  /** -x log(x), the terms of an entropy; 0 at 0, -Infinity for negative x. */
  entr(): Tensor;
  /** Like entr(), but in place. */
  entr_(): this;
  /** log(x / (1 - x)); x is first clamped to [eps, 1 - eps] if eps is given. */
  logit(eps?: number): Tensor;
  logit(options: { eps?: number }): Tensor;
  /** Like logit(), but in place. */
  logit_(eps?: number): this;
  logit_(options: { eps?: number }): this;
  /** Sine of every element, in radians. */
  sin(): Tensor;
  /** Like sin(), but in place. */
  sin_(): this;
  /** Cosine of every element, in radians. */
  cos(): Tensor;
  /** Like cos(), but in place. */
  cos_(): this;
  /** Tangent of every element, in radians. */
  tan(): Tensor;
  /** Like tan(), but in place. */
  tan_(): this;
  /** Angle in [-pi/2, pi/2] whose sine is the element. */
  asin(): Tensor;
  /** Like asin(), but in place. */
  asin_(): this;
  /** Angle in [0, pi] whose cosine is the element. */
  acos(): Tensor;
  /** Like acos(), but in place. */
  acos_(): this;
  /** Angle in [-pi/2, pi/2] whose tangent is the element. */
  atan(): Tensor;
  /** Like atan(), but in place. */
  atan_(): this;
  /** Angle of the point (other, input), in [-pi, pi]. */
  atan2(other: Operand): Tensor;
  /** Like atan2(), but in place. */
  atan2_(other: Operand): this;
  /** sqrt(input^2 + other^2), without overflow. */
  hypot(other: Operand): Tensor;
  /** Like hypot(), but in place. */
  hypot_(other: Operand): this;
  /** sin(pi x) / (pi x), and 1 at 0. */
  sinc(): Tensor;
  /** Like sinc(), but in place. */
  sinc_(): this;
  /** Hyperbolic sine of every element. */
  sinh(): Tensor;
  /** Like sinh(), but in place. */
  sinh_(): this;
  /** Hyperbolic cosine of every element. */
  cosh(): Tensor;
  /** Like cosh(), but in place. */
  cosh_(): this;
  /** Hyperbolic tangent of every element. */
  tanh(): Tensor;
  /** Like tanh(), but in place. */
  tanh_(): this;
  /** Inverse hyperbolic sine of every element. */
  asinh(): Tensor;
  /** Like asinh(), but in place. */
  asinh_(): this;
  /** Inverse hyperbolic cosine of every element. */
  acosh(): Tensor;
  /** Like acosh(), but in place. */
  acosh_(): this;
  /** Inverse hyperbolic tangent of every element. */
  atanh(): Tensor;
  /** Like atanh(), but in place. */
  atanh_(): this;
  /** Error function of every element. */
  erf(): Tensor;
  /** Like erf(), but in place. */
  erf_(): this;
  /** 1 - erf(x), accurate also where the result is tiny. */
  erfc(): Tensor;
  /** Like erfc(), but in place. */
  erfc_(): this;
  /** exp(x^2) erfc(x), accurate also where erfc(x) underflows to 0. */
  erfcx(): Tensor;
  /** Like erfcx(), but in place. */
  erfcx_(): this;
  /** Cumulative distribution function of the standard normal distribution. */
  ndtr(): Tensor;
  /** Like ndtr(), but in place. */
  ndtr_(): this;
  /** Logarithm of ndtr, accurate also where ndtr is tiny. */
  logNdtr(): Tensor;
  /** Like logNdtr(), but in place. */
  logNdtr_(): this;
  /** Inverse of the error function. */
  erfinv(): Tensor;
  /** Like erfinv(), but in place. */
  erfinv_(): this;
  /** Inverse of ndtr, accurate in both tails. */
  ndtri(): Tensor;
  /** Like ndtri(), but in place. */
  ndtri_(): this;
  /** Logarithm of the magnitude of the gamma function. */
  lgamma(): Tensor;
  /** Like lgamma(), but in place. */
  lgamma_(): this;
  /** Derivative of lgamma. */
  digamma(): Tensor;
  /** Like digamma(), but in place. */
  digamma_(): this;
  /** The n-th derivative of digamma. */
  polygamma(n: Operand): Tensor;
  /** Hurwitz zeta function: the sum of (other + k)^-input over k >= 0. */
  zeta(other: Operand): Tensor;
  /** Like zeta(), but in place. */
  zeta_(other: Operand): this;
  /** Regularised lower incomplete gamma function of other, with shape input. */
  gammainc(other: Operand): Tensor;
  /** Like gammainc(), but in place. */
  gammainc_(other: Operand): this;
  /** 1 - gammainc, accurate also where the result is tiny. */
  gammaincc(other: Operand): Tensor;
  /** Like gammaincc(), but in place. */
  gammaincc_(other: Operand): this;
  /** exp(-|x|) times the modified Bessel function of order 0. */
  i0e(): Tensor;
  /** Like i0e(), but in place. */
  i0e_(): this;
  /** exp(-|x|) times the modified Bessel function of order 1. */
  i1e(): Tensor;
  /** Like i1e(), but in place. */
  i1e_(): this;
  /** Modified Bessel function I0 (first kind, order 0). */
  i0(): Tensor;
  /** Like i0(), but in place. */
  i0_(): this;
  /** Modified Bessel function I1 (first kind, order 1). */
  i1(): Tensor;
  /** Like i1(), but in place. */
  i1_(): this;
  /** Bitwise and of integers; logical and of booleans. */
  bitwiseAnd(other: Operand): Tensor;
  /** Like bitwiseAnd(), but in place. */
  bitwiseAnd_(other: Operand): this;
  /** Bitwise or of integers; logical or of booleans. */
  bitwiseOr(other: Operand): Tensor;
  /** Like bitwiseOr(), but in place. */
  bitwiseOr_(other: Operand): this;
  /** Bitwise exclusive or of integers; logical exclusive or of booleans. */
  bitwiseXor(other: Operand): Tensor;
  /** Like bitwiseXor(), but in place. */
  bitwiseXor_(other: Operand): this;
  /** Bitwise complement of integers; logical not of booleans. */
  bitwiseNot(): Tensor;
  /** Like bitwiseNot(), but in place. */
  bitwiseNot_(): this;
  /** input shifted left by other bits. */
  bitwiseLeftShift(other: Operand): Tensor;
  /** Like bitwiseLeftShift(), but in place. */
  bitwiseLeftShift_(other: Operand): this;
  /** input shifted right by other bits, preserving the sign. */
  bitwiseRightShift(other: Operand): Tensor;
  /** Like bitwiseRightShift(), but in place. */
  bitwiseRightShift_(other: Operand): this;
  /** The greatest common divisor, never negative. */
  gcd(other: Operand): Tensor;
  /** Like gcd(), but in place. */
  gcd_(other: Operand): this;
  /** The least common multiple, never negative. */
  lcm(other: Operand): Tensor;
  /** Like lcm(), but in place. */
  lcm_(other: Operand): this;
  /** max(x, 0). */
  relu(): Tensor;
  /** Like relu(), but in place. */
  relu_(): this;
  /** min(max(x, 0), 6). */
  relu6(): Tensor;
  /** Like relu6(), but in place. */
  relu6_(): this;
  /** x above zero, x * negative_slope below. */
  leakyRelu(negativeSlope?: number): Tensor;
  leakyRelu(options: { negativeSlope?: number }): Tensor;
  /** Like leakyRelu(), but in place. */
  leakyRelu_(negativeSlope?: number): this;
  leakyRelu_(options: { negativeSlope?: number }): this;
  /** x above zero, alpha * (exp(x) - 1) below. */
  elu(alpha?: number): Tensor;
  elu(options: { alpha?: number }): Tensor;
  /** Like elu(), but in place. */
  elu_(alpha?: number): this;
  elu_(options: { alpha?: number }): this;
  /** elu, scaled so that activations tend to mean 0 and variance 1. */
  selu(): Tensor;
  /** Like selu(), but in place. */
  selu_(): this;
  /** x above zero, alpha * (exp(x / alpha) - 1) below. */
  celu(alpha?: number): Tensor;
  celu(options: { alpha?: number }): Tensor;
  /** Like celu(), but in place. */
  celu_(alpha?: number): this;
  celu_(options: { alpha?: number }): this;
  /** 1 / (1 + exp(-x)). */
  sigmoid(): Tensor;
  /** Like sigmoid(), but in place. */
  sigmoid_(): this;
  /** log(sigmoid(x)), without underflow. */
  logsigmoid(): Tensor;
  /** Like logsigmoid(), but in place. */
  logsigmoid_(): this;
  /** x * sigmoid(x). */
  silu(): Tensor;
  /** Like silu(), but in place. */
  silu_(): this;
  /** x * tanh(softplus(x)). */
  mish(): Tensor;
  /** Like mish(), but in place. */
  mish_(): this;
  /** x times the standard normal cumulative distribution function of x. */
  gelu(approximate?: "none" | "tanh"): Tensor;
  gelu(options: { approximate?: "none" | "tanh" }): Tensor;
  /** Like gelu(), but in place. */
  gelu_(approximate?: "none" | "tanh"): this;
  gelu_(options: { approximate?: "none" | "tanh" }): this;
  /** log(1 + exp(beta x)) / beta; x where beta x is above threshold. */
  softplus(beta?: number, threshold?: number): Tensor;
  softplus(options: { beta?: number; threshold?: number }): Tensor;
  softplus(beta: number, options: { threshold?: number }): Tensor;
  /** Like softplus(), but in place. */
  softplus_(beta?: number, threshold?: number): this;
  softplus_(options: { beta?: number; threshold?: number }): this;
  softplus_(beta: number, options: { threshold?: number }): this;
  /** x / (1 + |x|). */
  softsign(): Tensor;
  /** Like softsign(), but in place. */
  softsign_(): this;
  /** x - tanh(x). */
  tanhshrink(): Tensor;
  /** Like tanhshrink(), but in place. */
  tanhshrink_(): this;
  /** x shrunk towards zero by lambd; 0 in [-lambd, lambd]. */
  softshrink(lambd?: number): Tensor;
  softshrink(options: { lambd?: number }): Tensor;
  /** Like softshrink(), but in place. */
  softshrink_(lambd?: number): this;
  softshrink_(options: { lambd?: number }): this;
  /** x, but 0 in [-lambd, lambd]. */
  hardshrink(lambd?: number): Tensor;
  hardshrink(options: { lambd?: number }): Tensor;
  /** Like hardshrink(), but in place. */
  hardshrink_(lambd?: number): this;
  hardshrink_(options: { lambd?: number }): this;
  /** x clamped to [min_val, max_val]. */
  hardtanh(minVal?: number, maxVal?: number): Tensor;
  hardtanh(options: { minVal?: number; maxVal?: number }): Tensor;
  hardtanh(minVal: number, options: { maxVal?: number }): Tensor;
  /** Like hardtanh(), but in place. */
  hardtanh_(minVal?: number, maxVal?: number): this;
  hardtanh_(options: { minVal?: number; maxVal?: number }): this;
  hardtanh_(minVal: number, options: { maxVal?: number }): this;
  /** min(max(x + 3, 0), 6) / 6. */
  hardsigmoid(): Tensor;
  /** Like hardsigmoid(), but in place. */
  hardsigmoid_(): this;
  /** x * hardsigmoid(x). */
  hardswish(): Tensor;
  /** Like hardswish(), but in place. */
  hardswish_(): this;
  /** A copy in separate memory; gradients flow through it. */
  clone(): Tensor;
  /** The tensor itself when it is row-major, else a row-major copy. */
  contiguous(): Tensor;
  /** Writes source, broadcast and converted, into input. */
  copy_(source: Operand): this;
  /** Sets every element of input to value. */
  fill_(value: Operand): this;
  /** Sets every element of input to zero. */
  zero_(): this;
  /** A view with the given size, strides and offset. */
  asStrided(size: Ints, stride: Ints, storageOffset?: number | null): Tensor;
  asStrided(size: Ints, stride: Ints, options: { storageOffset?: number | null }): Tensor;
  /** The same elements in another shape, without a copy. */
  view(shape: Ints): Tensor;
  view(...shape: number[]): Tensor;
  /** The elements in another shape: a view if possible, else a copy. */
  reshape(shape: Ints): Tensor;
  reshape(...shape: number[]): Tensor;
  /** A view of input in the shape of other. */
  viewAs(other: Tensor): Tensor;
  /** Merges the dimensions startDim to endDim into one. */
  flatten(startDim?: number, endDim?: number): Tensor;
  flatten(options: { startDim?: number; endDim?: number }): Tensor;
  flatten(startDim: number, options: { endDim?: number }): Tensor;
  /** Splits dimension dim into dimensions of the given sizes. */
  unflatten(dim: number, sizes: Ints): Tensor;
  unflatten(dim: number, ...sizes: number[]): Tensor;
  /** A view with dimensions dim0 and dim1 exchanged. */
  transpose(dim0: number, dim1: number): Tensor;
  /** Like transpose(), but in place. */
  transpose_(dim0: number, dim1: number): this;
  /** A view with dimensions axis0 and axis1 exchanged. */
  swapaxes(axis0: number, axis1: number): Tensor;
  /** Like swapaxes(), but in place. */
  swapaxes_(axis0: number, axis1: number): this;
  /** The transpose of a matrix; a vector stays as it is. */
  t(): Tensor;
  /** Like t(), but in place. */
  t_(): this;
  /** A view with the dimensions in the order dims. */
  permute(dims: Ints): Tensor;
  permute(...dims: number[]): Tensor;
  /** A view with the dimensions source moved to the positions destination. */
  movedim(source: Ints, destination: Ints): Tensor;
  /** A view without dimensions of size one: all of them, or those in dim. */
  squeeze(dim?: Ints | null): Tensor;
  squeeze(options: { dim?: Ints | null }): Tensor;
  /** Like squeeze(), but in place. */
  squeeze_(dim?: Ints | null): this;
  squeeze_(options: { dim?: Ints | null }): this;
  /** A view with a dimension of size one inserted at dim. */
  unsqueeze(dim: number): Tensor;
  /** Like unsqueeze(), but in place. */
  unsqueeze_(dim: number): this;
  /** A view that repeats dimensions of size one; -1 keeps a size. */
  expand(size: Ints): Tensor;
  expand(...size: number[]): Tensor;
  /** input expanded to the shape of other. */
  expandAs(other: Tensor): Tensor;
  /** input expanded to a shape. */
  broadcastTo(shape: Ints): Tensor;
  broadcastTo(...shape: number[]): Tensor;
  /** The same values without a graph. */
  detach(): Tensor;
  /** A view of length slices along dim, from start. */
  narrow(dim: number, start: number, length: number): Tensor;
  /** A view of the slice at index along dim, without that dimension. */
  select(dim: number, index: number): Tensor;
  /** Views of consecutive parts of the given sizes along dim. */
  splitWithSizes(splitSizes: Ints, dim?: number): Tensor[];
  splitWithSizes(splitSizes: Ints, options: { dim?: number }): Tensor[];
  /** Views of consecutive parts along dim: of one size, or of the given sizes. */
  split(splitSize: Ints, dim?: number): Tensor[];
  split(splitSize: Ints, options: { dim?: number }): Tensor[];
  /** Views of at most chunks parts along dim, of one size; the last may be smaller. */
  chunk(chunks: number, dim?: number): Tensor[];
  chunk(chunks: number, options: { dim?: number }): Tensor[];
  /** Views of all slices along dim, without that dimension. */
  unbind(dim?: number): Tensor[];
  unbind(options: { dim?: number }): Tensor[];
  /** A view of the diagonals of the planes of dim1 and dim2, as last dimension. */
  diagonal(offset?: number, dim1?: number, dim2?: number): Tensor;
  diagonal(options: { offset?: number; dim1?: number; dim2?: number }): Tensor;
  diagonal(offset: number, options: { dim1?: number; dim2?: number }): Tensor;
  diagonal(offset: number, dim1: number, options: { dim2?: number }): Tensor;
  /** A view of windows of size slices along dimension, step apart, as last dimension. */
  unfold(dimension: number, size: number, step: number): Tensor;
  /** A copy of input repeated repeats[i] times along dimension i. */
  repeat(repeats: Ints): Tensor;
  repeat(...repeats: number[]): Tensor;
  /** repeat() in which missing repeats count as one. */
  tile(dims: Ints): Tensor;
  tile(...dims: number[]): Tensor;
  /** A copy with the order of elements reversed along dims. */
  flip(dims: Ints): Tensor;
  flip(...dims: number[]): Tensor;
  /** A copy with elements shifted cyclically along dims; flattened first without dims. */
  roll(shifts: Ints, dims?: Ints | null): Tensor;
  roll(shifts: Ints, options: { dims?: Ints | null }): Tensor;
  /** A copy rotated k times by 90 degrees in the plane dims. */
  rot90(k?: number, dims?: Ints): Tensor;
  rot90(options: { k?: number; dims?: Ints }): Tensor;
  rot90(k: number, options: { dims?: Ints }): Tensor;
  /** The lower triangle of matrices up to a diagonal, zero elsewhere. */
  tril(diagonal?: number): Tensor;
  tril(options: { diagonal?: number }): Tensor;
  /** Like tril(), but in place. */
  tril_(diagonal?: number): this;
  tril_(options: { diagonal?: number }): this;
  /** The upper triangle of matrices from a diagonal on, zero elsewhere. */
  triu(diagonal?: number): Tensor;
  triu(options: { diagonal?: number }): Tensor;
  /** Like triu(), but in place. */
  triu_(diagonal?: number): this;
  triu_(options: { diagonal?: number }): this;
  /** A matrix with a vector on its diagonal, or the diagonal of a matrix. */
  diag(diagonal?: number): Tensor;
  diag(options: { diagonal?: number }): Tensor;
  /** The sum of the diagonal of a matrix. */
  trace(): Tensor;
  /** Sets the diagonal of input to fillValue; with wrap, a tall matrix has further diagonals. */
  fillDiagonal_(fillValue: Scalar | Complex, wrap?: boolean): this;
  fillDiagonal_(fillValue: Scalar | Complex, options: { wrap?: boolean }): this;
  /** The slices of input at index along dim. */
  indexSelect(dim: number, index: Tensor): Tensor;
  /** A copy of input with alpha * source added to the slices at index. */
  indexAdd(dim: number, index: Tensor, source: Tensor, alpha?: Scalar | Complex): Tensor;
  indexAdd(dim: number, index: Tensor, source: Tensor, options: { alpha?: Scalar | Complex }): Tensor;
  /** Like indexAdd(), but in place. */
  indexAdd_(dim: number, index: Tensor, source: Tensor, alpha?: Scalar | Complex): this;
  indexAdd_(dim: number, index: Tensor, source: Tensor, options: { alpha?: Scalar | Complex }): this;
  /** A copy of input with the slices at index replaced by those of source. */
  indexCopy(dim: number, index: Tensor, source: Tensor): Tensor;
  /** Like indexCopy(), but in place. */
  indexCopy_(dim: number, index: Tensor, source: Tensor): this;
  /** A copy of input with the slices at index set to value. */
  indexFill(dim: number, index: Tensor, value: Operand): Tensor;
  /** Like indexFill(), but in place. */
  indexFill_(dim: number, index: Tensor, value: Operand): this;
  /** For each element of index, the element of input there along dim; with sparseGrad, the gradient of input is sparse. */
  gather(dim: number, index: Tensor, sparseGrad?: boolean): Tensor;
  gather(dim: number, index: Tensor, options: { sparseGrad?: boolean }): Tensor;
  /** A copy of input with the elements of src, or a number, written at index along dim; with reduce, added to or multiplied with the old elements. */
  scatter(dim: number, index: Tensor, src: Operand, reduce?: "none" | "add" | "multiply"): Tensor;
  scatter(dim: number, index: Tensor, src: Operand, options: { reduce?: "none" | "add" | "multiply" }): Tensor;
  /** Like scatter(), but in place. */
  scatter_(dim: number, index: Tensor, src: Operand, reduce?: "none" | "add" | "multiply"): this;
  scatter_(dim: number, index: Tensor, src: Operand, options: { reduce?: "none" | "add" | "multiply" }): this;
  /** A copy of input with the elements of src added to those at index along dim. */
  scatterAdd(dim: number, index: Tensor, src: Tensor): Tensor;
  /** Like scatterAdd(), but in place. */
  scatterAdd_(dim: number, index: Tensor, src: Tensor): this;
  /** A copy of input in which the elements of src with the same index along dim are reduced to one, together with the old element unless includeSelf is false. */
  scatterReduce(dim: number, index: Tensor, src: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", includeSelf?: boolean): Tensor;
  scatterReduce(dim: number, index: Tensor, src: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", options: { includeSelf?: boolean }): Tensor;
  /** Like scatterReduce(), but in place. */
  scatterReduce_(dim: number, index: Tensor, src: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", includeSelf?: boolean): this;
  scatterReduce_(dim: number, index: Tensor, src: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", options: { includeSelf?: boolean }): this;
  /** A copy of input in which the slices of source with the same index along dim are reduced to one, together with the old slice unless includeSelf is false. For sums use indexAdd(). */
  indexReduce(dim: number, index: Tensor, source: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", includeSelf?: boolean): Tensor;
  indexReduce(dim: number, index: Tensor, source: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", options: { includeSelf?: boolean }): Tensor;
  /** Like indexReduce(), but in place. */
  indexReduce_(dim: number, index: Tensor, source: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", includeSelf?: boolean): this;
  indexReduce_(dim: number, index: Tensor, source: Tensor, reduce: "sum" | "prod" | "mean" | "amax" | "amin", options: { includeSelf?: boolean }): this;
  /** gather() with input and indices broadcast except along dim; both flattened without dim. */
  takeAlongDim(indices: Tensor, dim?: number | null): Tensor;
  takeAlongDim(indices: Tensor, options: { dim?: number | null }): Tensor;
  /** The elements of the flattened input at index. */
  take(index: Tensor): Tensor;
  /** The elements of input where mask holds, as a vector. */
  maskedSelect(mask: Tensor): Tensor;
  /** A copy of input with the elements of source, in order, where mask holds. */
  maskedScatter(mask: Tensor, source: Tensor): Tensor;
  /** Like maskedScatter(), but in place. */
  maskedScatter_(mask: Tensor, source: Tensor): this;
  /** The indices of the nonzero elements, one row for each element. */
  nonzero(): Tensor;
  /** Repeats every slice along dim; every element without dim. */
  repeatInterleave(repeats: Operand, dim?: number | null): Tensor;
  repeatInterleave(repeats: Operand, options: { dim?: number | null }): Tensor;
  /** For each class a row of zeros with a one at the class. */
  oneHot(numClasses?: number): Tensor;
  oneHot(options: { numClasses?: number }): Tensor;
  /** The index along the last dimension of sortedSequence at which each element of input would be inserted: before equal elements, or with right after them. sorter is the argsort() of an unsorted sequence. */
  searchsorted(input: Operand, outInt32?: boolean, right?: boolean, side?: null | "left" | "right", sorter?: Tensor | null): Tensor;
  searchsorted(input: Operand, options: { outInt32?: boolean; right?: boolean; side?: null | "left" | "right"; sorter?: Tensor | null }): Tensor;
  searchsorted(input: Operand, outInt32: boolean, options: { right?: boolean; side?: null | "left" | "right"; sorter?: Tensor | null }): Tensor;
  searchsorted(input: Operand, outInt32: boolean, right: boolean, options: { side?: null | "left" | "right"; sorter?: Tensor | null }): Tensor;
  searchsorted(input: Operand, outInt32: boolean, right: boolean, side: null | "left" | "right", options: { sorter?: Tensor | null }): Tensor;
  /** The bucket of each element of input between boundaries, an ascending vector: searchsorted() with one sequence. */
  bucketize(boundaries: Tensor, outInt32?: boolean, right?: boolean): Tensor;
  bucketize(boundaries: Tensor, options: { outInt32?: boolean; right?: boolean }): Tensor;
  bucketize(boundaries: Tensor, outInt32: boolean, options: { right?: boolean }): Tensor;
  /** The rows of weight at the indices in input; row paddingIdx gets no gradient. With sparse, the gradient of weight is a sparse tensor of the chosen rows. */
  embedding(weight: Tensor, paddingIdx?: number | null, sparse?: boolean): Tensor;
  embedding(weight: Tensor, options: { paddingIdx?: number | null; sparse?: boolean }): Tensor;
  embedding(weight: Tensor, paddingIdx: number | null, options: { sparse?: boolean }): Tensor;
  /** A copy of input with values, broadcast, at the elements that indices select. */
  indexPut(indices: readonly Tensor[], values: Operand, accumulate?: boolean): Tensor;
  indexPut(indices: readonly Tensor[], values: Operand, options: { accumulate?: boolean }): Tensor;
  /** Writes values, broadcast, to the elements of input that indices select, or adds them. */
  indexPut_(indices: readonly Tensor[], values: Operand, accumulate?: boolean, dims?: Ints | null): this;
  indexPut_(indices: readonly Tensor[], values: Operand, options: { accumulate?: boolean; dims?: Ints | null }): this;
  indexPut_(indices: readonly Tensor[], values: Operand, accumulate: boolean, options: { dims?: Ints | null }): this;
  /** Sets the elements of input to uniform random numbers in [from, to). */
  uniform_(from?: number, to?: number, options?: GeneratorOption): this;
  uniform_(options: { from?: number; to?: number } & GeneratorOption): this;
  uniform_(from: number, options: { to?: number } & GeneratorOption): this;
  /** Sets the elements of input to normal random numbers. */
  normal_(mean?: number, std?: number, options?: GeneratorOption): this;
  normal_(options: { mean?: number; std?: number } & GeneratorOption): this;
  normal_(mean: number, options: { std?: number } & GeneratorOption): this;
  /** Sets the elements of input to random integers in [from, to), or in the range of its dtype. */
  random_(from?: Scalar | null, to?: Scalar | null, options?: GeneratorOption): this;
  random_(options: { from?: Scalar | null; to?: Scalar | null } & GeneratorOption): this;
  random_(from: Scalar | null, options: { to?: Scalar | null } & GeneratorOption): this;
  /** Sets the elements of input to exponentially distributed numbers of rate lambd. */
  exponential_(lambd?: number, options?: GeneratorOption): this;
  exponential_(options: { lambd?: number } & GeneratorOption): this;
  /** Sets the elements of input to 1 with probability p, else to 0. */
  bernoulli_(p?: number, options?: GeneratorOption): this;
  bernoulli_(options: { p?: number } & GeneratorOption): this;
  /** 1 with the probability in input, else 0. */
  bernoulli(options?: GeneratorOption): Tensor;
  /** In training, zeroes elements with probability p and scales the others by 1 / (1 - p). */
  dropout(p?: number, training?: boolean): Tensor;
  dropout(options: { p?: number; training?: boolean }): Tensor;
  dropout(p: number, options: { training?: boolean }): Tensor;
  /** Sum of all elements or along dim; int64 for integers. */
  sum(dim?: Ints | null, keepdim?: boolean, dtype?: DType | null): Tensor;
  sum(options: { dim?: Ints | null; keepdim?: boolean; dtype?: DType | null }): Tensor;
  sum(dim: Ints | null, options: { keepdim?: boolean; dtype?: DType | null }): Tensor;
  sum(dim: Ints | null, keepdim: boolean, options: { dtype?: DType | null }): Tensor;
  /** Mean of all elements or along dim. */
  mean(dim?: Ints | null, keepdim?: boolean, dtype?: DType | null): Tensor;
  mean(options: { dim?: Ints | null; keepdim?: boolean; dtype?: DType | null }): Tensor;
  mean(dim: Ints | null, options: { keepdim?: boolean; dtype?: DType | null }): Tensor;
  mean(dim: Ints | null, keepdim: boolean, options: { dtype?: DType | null }): Tensor;
  /** Product of all elements or along dim; int64 for integers. */
  prod(dim?: number | null, keepdim?: boolean, dtype?: DType | null): Tensor;
  prod(options: { dim?: number | null; keepdim?: boolean; dtype?: DType | null }): Tensor;
  prod(dim: number | null, options: { keepdim?: boolean; dtype?: DType | null }): Tensor;
  prod(dim: number | null, keepdim: boolean, options: { dtype?: DType | null }): Tensor;
  /** Whether any element is nonzero, of all or along dim. */
  any(dim?: Ints | null, keepdim?: boolean): Tensor;
  any(options: { dim?: Ints | null; keepdim?: boolean }): Tensor;
  any(dim: Ints | null, options: { keepdim?: boolean }): Tensor;
  /** Whether every element is nonzero, of all or along dim. */
  all(dim?: Ints | null, keepdim?: boolean): Tensor;
  all(options: { dim?: Ints | null; keepdim?: boolean }): Tensor;
  all(dim: Ints | null, options: { keepdim?: boolean }): Tensor;
  /** Largest element, of all or along dim; ties share the gradient. */
  amax(dim?: Ints | null, keepdim?: boolean): Tensor;
  amax(options: { dim?: Ints | null; keepdim?: boolean }): Tensor;
  amax(dim: Ints | null, options: { keepdim?: boolean }): Tensor;
  /** Smallest element, of all or along dim; ties share the gradient. */
  amin(dim?: Ints | null, keepdim?: boolean): Tensor;
  amin(options: { dim?: Ints | null; keepdim?: boolean }): Tensor;
  amin(dim: Ints | null, options: { keepdim?: boolean }): Tensor;
  /** Largest element; with dim, [values, indices]; of two tensors, their maximum. */
  max(dim?: Tensor | null, keepdim?: boolean): Tensor;
  max(options: { dim?: Tensor | null; keepdim?: boolean }): Tensor;
  max(dim: Tensor | null, options: { keepdim?: boolean }): Tensor;
  max(dim: number, keepdim?: boolean): [values: Tensor, indices: Tensor];
  max(options: { dim: number; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  max(dim: number, options: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  max(dim?: Operand | null, keepdim?: boolean): Tensor | [values: Tensor, indices: Tensor];
  max(options: { dim?: Operand | null; keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  max(dim: Operand | null, options: { keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  /** Smallest element; with dim, [values, indices]; of two tensors, their minimum. */
  min(dim?: Tensor | null, keepdim?: boolean): Tensor;
  min(options: { dim?: Tensor | null; keepdim?: boolean }): Tensor;
  min(dim: Tensor | null, options: { keepdim?: boolean }): Tensor;
  min(dim: number, keepdim?: boolean): [values: Tensor, indices: Tensor];
  min(options: { dim: number; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  min(dim: number, options: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  min(dim?: Operand | null, keepdim?: boolean): Tensor | [values: Tensor, indices: Tensor];
  min(options: { dim?: Operand | null; keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  min(dim: Operand | null, options: { keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  /** Index of the first largest element, of all or along dim. */
  argmax(dim?: number | null, keepdim?: boolean): Tensor;
  argmax(options: { dim?: number | null; keepdim?: boolean }): Tensor;
  argmax(dim: number | null, options: { keepdim?: boolean }): Tensor;
  /** Index of the first smallest element, of all or along dim. */
  argmin(dim?: number | null, keepdim?: boolean): Tensor;
  argmin(options: { dim?: number | null; keepdim?: boolean }): Tensor;
  argmin(dim: number | null, options: { keepdim?: boolean }): Tensor;
  /** Variance of all elements or along dim, divided by their number - correction. */
  var(dim?: Ints | null, correction?: number, keepdim?: boolean, unbiased?: boolean | null): Tensor;
  var(options: { dim?: Ints | null; correction?: number; keepdim?: boolean; unbiased?: boolean | null }): Tensor;
  var(dim: Ints | null, options: { correction?: number; keepdim?: boolean; unbiased?: boolean | null }): Tensor;
  var(dim: Ints | null, correction: number, options: { keepdim?: boolean; unbiased?: boolean | null }): Tensor;
  var(dim: Ints | null, correction: number, keepdim: boolean, options: { unbiased?: boolean | null }): Tensor;
  /** Standard deviation: the square root of var. */
  std(dim?: Ints | null, correction?: number, keepdim?: boolean, unbiased?: boolean | null): Tensor;
  std(options: { dim?: Ints | null; correction?: number; keepdim?: boolean; unbiased?: boolean | null }): Tensor;
  std(dim: Ints | null, options: { correction?: number; keepdim?: boolean; unbiased?: boolean | null }): Tensor;
  std(dim: Ints | null, correction: number, options: { keepdim?: boolean; unbiased?: boolean | null }): Tensor;
  std(dim: Ints | null, correction: number, keepdim: boolean, options: { unbiased?: boolean | null }): Tensor;
  /** log(sum(exp(input))) along dim, without overflow. */
  logsumexp(dim: Ints, keepdim?: boolean): Tensor;
  logsumexp(dim: Ints, options: { keepdim?: boolean }): Tensor;
  /** Sum of the elements that are not NaN. */
  nansum(dim?: Ints | null, keepdim?: boolean, dtype?: DType | null): Tensor;
  nansum(options: { dim?: Ints | null; keepdim?: boolean; dtype?: DType | null }): Tensor;
  nansum(dim: Ints | null, options: { keepdim?: boolean; dtype?: DType | null }): Tensor;
  nansum(dim: Ints | null, keepdim: boolean, options: { dtype?: DType | null }): Tensor;
  /** Mean of the elements that are not NaN. */
  nanmean(dim?: Ints | null, keepdim?: boolean, dtype?: DType | null): Tensor;
  nanmean(options: { dim?: Ints | null; keepdim?: boolean; dtype?: DType | null }): Tensor;
  nanmean(dim: Ints | null, options: { keepdim?: boolean; dtype?: DType | null }): Tensor;
  nanmean(dim: Ints | null, keepdim: boolean, options: { dtype?: DType | null }): Tensor;
  /** Number of nonzero elements. */
  countNonzero(dim?: Ints | null): Tensor;
  countNonzero(options: { dim?: Ints | null }): Tensor;
  /** [smallest, largest] element, of all or along dim. */
  aminmax(dim?: number | null, keepdim?: boolean): [min: Tensor, max: Tensor];
  aminmax(options: { dim?: number | null; keepdim?: boolean }): [min: Tensor, max: Tensor];
  aminmax(dim: number | null, options: { keepdim?: boolean }): [min: Tensor, max: Tensor];
  /** [variance, mean] of all elements or along dim. */
  varMean(dim?: Ints | null, correction?: number, keepdim?: boolean, unbiased?: boolean | null): [variance: Tensor, mean: Tensor];
  varMean(options: { dim?: Ints | null; correction?: number; keepdim?: boolean; unbiased?: boolean | null }): [variance: Tensor, mean: Tensor];
  varMean(dim: Ints | null, options: { correction?: number; keepdim?: boolean; unbiased?: boolean | null }): [variance: Tensor, mean: Tensor];
  varMean(dim: Ints | null, correction: number, options: { keepdim?: boolean; unbiased?: boolean | null }): [variance: Tensor, mean: Tensor];
  varMean(dim: Ints | null, correction: number, keepdim: boolean, options: { unbiased?: boolean | null }): [variance: Tensor, mean: Tensor];
  /** [standard deviation, mean] of all elements or along dim. */
  stdMean(dim?: Ints | null, correction?: number, keepdim?: boolean, unbiased?: boolean | null): [std: Tensor, mean: Tensor];
  stdMean(options: { dim?: Ints | null; correction?: number; keepdim?: boolean; unbiased?: boolean | null }): [std: Tensor, mean: Tensor];
  stdMean(dim: Ints | null, options: { correction?: number; keepdim?: boolean; unbiased?: boolean | null }): [std: Tensor, mean: Tensor];
  stdMean(dim: Ints | null, correction: number, options: { keepdim?: boolean; unbiased?: boolean | null }): [std: Tensor, mean: Tensor];
  stdMean(dim: Ints | null, correction: number, keepdim: boolean, options: { unbiased?: boolean | null }): [std: Tensor, mean: Tensor];
  /** input where it is positive, else weight * input; one weight, or one per channel. */
  prelu(weight: Tensor): Tensor;
  /** input where it is above threshold, else value. */
  threshold(threshold: Scalar, value: Scalar): Tensor;
  /** Like threshold(), but in place. */
  threshold_(threshold: Scalar, value: Scalar): this;
  /** Whether elements differ by at most atol + rtol * |other|, or are equal. */
  isclose(other: Tensor, rtol?: number, atol?: number, equalNan?: boolean): Tensor;
  isclose(other: Tensor, options: { rtol?: number; atol?: number; equalNan?: boolean }): Tensor;
  isclose(other: Tensor, rtol: number, options: { atol?: number; equalNan?: boolean }): Tensor;
  isclose(other: Tensor, rtol: number, atol: number, options: { equalNan?: boolean }): Tensor;
  /** exp(input) divided by its sum along dim. */
  softmax(dim: number, dtype?: DType | null): Tensor;
  softmax(dim: number, options: { dtype?: DType | null }): Tensor;
  /** Logarithm of softmax, exact where softmax is almost zero. */
  logSoftmax(dim: number, dtype?: DType | null): Tensor;
  logSoftmax(dim: number, options: { dtype?: DType | null }): Tensor;
  /** softmax of the negative input. */
  softmin(dim: number, dtype?: DType | null): Tensor;
  softmin(dim: number, options: { dtype?: DType | null }): Tensor;
  /** Cross entropy of scores with target classes or probabilities. */
  crossEntropy(target: Tensor, weight?: Tensor | null, ignoreIndex?: number, reduction?: "none" | "mean" | "sum", labelSmoothing?: number): Tensor;
  crossEntropy(target: Tensor, options: { weight?: Tensor | null; ignoreIndex?: number; reduction?: "none" | "mean" | "sum"; labelSmoothing?: number }): Tensor;
  crossEntropy(target: Tensor, weight: Tensor | null, options: { ignoreIndex?: number; reduction?: "none" | "mean" | "sum"; labelSmoothing?: number }): Tensor;
  crossEntropy(target: Tensor, weight: Tensor | null, ignoreIndex: number, options: { reduction?: "none" | "mean" | "sum"; labelSmoothing?: number }): Tensor;
  crossEntropy(target: Tensor, weight: Tensor | null, ignoreIndex: number, reduction: "none" | "mean" | "sum", options: { labelSmoothing?: number }): Tensor;
  /** Negative log-likelihood of target classes, from log-probabilities. */
  nllLoss(target: Tensor, weight?: Tensor | null, ignoreIndex?: number, reduction?: "none" | "mean" | "sum"): Tensor;
  nllLoss(target: Tensor, options: { weight?: Tensor | null; ignoreIndex?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  nllLoss(target: Tensor, weight: Tensor | null, options: { ignoreIndex?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  nllLoss(target: Tensor, weight: Tensor | null, ignoreIndex: number, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** Mean squared error. */
  mseLoss(target: Tensor, reduction?: "none" | "mean" | "sum"): Tensor;
  mseLoss(target: Tensor, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** Mean absolute error. */
  l1Loss(target: Tensor, reduction?: "none" | "mean" | "sum"): Tensor;
  l1Loss(target: Tensor, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** Mean absolute error, smoothed to a parabola below beta. */
  smoothL1Loss(target: Tensor, reduction?: "none" | "mean" | "sum", beta?: number): Tensor;
  smoothL1Loss(target: Tensor, options: { reduction?: "none" | "mean" | "sum"; beta?: number }): Tensor;
  smoothL1Loss(target: Tensor, reduction: "none" | "mean" | "sum", options: { beta?: number }): Tensor;
  /** Mean of half the squared error, linear above delta. */
  huberLoss(target: Tensor, reduction?: "none" | "mean" | "sum", delta?: number): Tensor;
  huberLoss(target: Tensor, options: { reduction?: "none" | "mean" | "sum"; delta?: number }): Tensor;
  huberLoss(target: Tensor, reduction: "none" | "mean" | "sum", options: { delta?: number }): Tensor;
  /** Cross entropy of binary probabilities. */
  binaryCrossEntropy(target: Tensor, weight?: Tensor | null, reduction?: "none" | "mean" | "sum"): Tensor;
  binaryCrossEntropy(target: Tensor, options: { weight?: Tensor | null; reduction?: "none" | "mean" | "sum" }): Tensor;
  binaryCrossEntropy(target: Tensor, weight: Tensor | null, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** Binary cross entropy of sigmoid(input), stable for any input. */
  binaryCrossEntropyWithLogits(target: Tensor, weight?: Tensor | null, reduction?: "none" | "mean" | "sum", posWeight?: Tensor | null): Tensor;
  binaryCrossEntropyWithLogits(target: Tensor, options: { weight?: Tensor | null; reduction?: "none" | "mean" | "sum"; posWeight?: Tensor | null }): Tensor;
  binaryCrossEntropyWithLogits(target: Tensor, weight: Tensor | null, options: { reduction?: "none" | "mean" | "sum"; posWeight?: Tensor | null }): Tensor;
  binaryCrossEntropyWithLogits(target: Tensor, weight: Tensor | null, reduction: "none" | "mean" | "sum", options: { posWeight?: Tensor | null }): Tensor;
  /** Kullback-Leibler divergence of target from the log-probabilities input. */
  klDiv(target: Tensor, reduction?: "none" | "mean" | "sum" | "batchmean", logTarget?: boolean): Tensor;
  klDiv(target: Tensor, options: { reduction?: "none" | "mean" | "sum" | "batchmean"; logTarget?: boolean }): Tensor;
  klDiv(target: Tensor, reduction: "none" | "mean" | "sum" | "batchmean", options: { logTarget?: boolean }): Tensor;
  /** By how much input1 fails to be margin above (target 1) or below (target -1) input2. */
  marginRankingLoss(input2: Tensor, target: Tensor, margin?: number, reduction?: "none" | "mean" | "sum"): Tensor;
  marginRankingLoss(input2: Tensor, target: Tensor, options: { margin?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  marginRankingLoss(input2: Tensor, target: Tensor, margin: number, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** The distance input (target 1), or by how much it is less than margin (target -1). */
  hingeEmbeddingLoss(target: Tensor, margin?: number, reduction?: "none" | "mean" | "sum"): Tensor;
  hingeEmbeddingLoss(target: Tensor, options: { margin?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  hingeEmbeddingLoss(target: Tensor, margin: number, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** log(1 + exp(-target * input)) for targets 1 and -1. */
  softMarginLoss(target: Tensor, reduction?: "none" | "mean" | "sum"): Tensor;
  softMarginLoss(target: Tensor, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** One minus the cosine of two vectors (target 1), or how far it is above margin (target -1). */
  cosineEmbeddingLoss(input2: Tensor, target: Tensor, margin?: number, reduction?: "none" | "mean" | "sum"): Tensor;
  cosineEmbeddingLoss(input2: Tensor, target: Tensor, options: { margin?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  cosineEmbeddingLoss(input2: Tensor, target: Tensor, margin: number, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** By how much anchor fails to be closer to positive than to negative by margin, in the p-norm; with swap, the distance between positive and negative is used if it is smaller. */
  tripletMarginLoss(positive: Tensor, negative: Tensor, margin?: number, p?: number, eps?: number, swap?: boolean, reduction?: "none" | "mean" | "sum"): Tensor;
  tripletMarginLoss(positive: Tensor, negative: Tensor, options: { margin?: number; p?: number; eps?: number; swap?: boolean; reduction?: "none" | "mean" | "sum" }): Tensor;
  tripletMarginLoss(positive: Tensor, negative: Tensor, margin: number, options: { p?: number; eps?: number; swap?: boolean; reduction?: "none" | "mean" | "sum" }): Tensor;
  tripletMarginLoss(positive: Tensor, negative: Tensor, margin: number, p: number, options: { eps?: number; swap?: boolean; reduction?: "none" | "mean" | "sum" }): Tensor;
  tripletMarginLoss(positive: Tensor, negative: Tensor, margin: number, p: number, eps: number, options: { swap?: boolean; reduction?: "none" | "mean" | "sum" }): Tensor;
  tripletMarginLoss(positive: Tensor, negative: Tensor, margin: number, p: number, eps: number, swap: boolean, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** By how much the scores of the other classes come within margin of the target's, to the power p (1 or 2), divided by the number of classes. */
  multiMarginLoss(target: Tensor, p?: number, margin?: number, weight?: Tensor | null, reduction?: "none" | "mean" | "sum"): Tensor;
  multiMarginLoss(target: Tensor, options: { p?: number; margin?: number; weight?: Tensor | null; reduction?: "none" | "mean" | "sum" }): Tensor;
  multiMarginLoss(target: Tensor, p: number, options: { margin?: number; weight?: Tensor | null; reduction?: "none" | "mean" | "sum" }): Tensor;
  multiMarginLoss(target: Tensor, p: number, margin: number, options: { weight?: Tensor | null; reduction?: "none" | "mean" | "sum" }): Tensor;
  multiMarginLoss(target: Tensor, p: number, margin: number, weight: Tensor | null, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** By how much the scores of other classes come within one of the targets', divided by the number of classes. A row of target lists classes up to the first negative number. */
  multilabelMarginLoss(target: Tensor, reduction?: "none" | "mean" | "sum"): Tensor;
  multilabelMarginLoss(target: Tensor, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** Cross entropy of independent classes from their logits, as a mean over the classes. */
  multilabelSoftMarginLoss(target: Tensor, weight?: Tensor | null, reduction?: "none" | "mean" | "sum"): Tensor;
  multilabelSoftMarginLoss(target: Tensor, options: { weight?: Tensor | null; reduction?: "none" | "mean" | "sum" }): Tensor;
  multilabelSoftMarginLoss(target: Tensor, weight: Tensor | null, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** Negative log likelihood of counts whose rate, or its logarithm, is the input. */
  poissonNllLoss(target: Tensor, logInput?: boolean, full?: boolean, eps?: number, reduction?: "none" | "mean" | "sum"): Tensor;
  poissonNllLoss(target: Tensor, options: { logInput?: boolean; full?: boolean; eps?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  poissonNllLoss(target: Tensor, logInput: boolean, options: { full?: boolean; eps?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  poissonNllLoss(target: Tensor, logInput: boolean, full: boolean, options: { eps?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  poissonNllLoss(target: Tensor, logInput: boolean, full: boolean, eps: number, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** Negative log likelihood of target under normal distributions with the mean input and the variance var, of at least eps. */
  gaussianNllLoss(target: Tensor, var_: Operand, full?: boolean, eps?: number, reduction?: "none" | "mean" | "sum"): Tensor;
  gaussianNllLoss(target: Tensor, var_: Operand, options: { full?: boolean; eps?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  gaussianNllLoss(target: Tensor, var_: Operand, full: boolean, options: { eps?: number; reduction?: "none" | "mean" | "sum" }): Tensor;
  gaussianNllLoss(target: Tensor, var_: Operand, full: boolean, eps: number, options: { reduction?: "none" | "mean" | "sum" }): Tensor;
  /** Product of two matrices. */
  mm(mat2: Tensor): Tensor;
  /** Products of two batches of matrices, pair by pair. */
  bmm(mat2: Tensor): Tensor;
  /** Product of a matrix and a vector. */
  mv(vec: Tensor): Tensor;
  /** Sum of the products of the elements of two vectors. */
  dot(tensor: Tensor): Tensor;
  /** Matrix product over the last two dims; leading dims broadcast, vectors are promoted. */
  matmul(other: Tensor): Tensor;
  /** beta * input + alpha * (mat1 @ mat2); input broadcasts, and is not read when beta is 0. */
  addmm(mat1: Tensor, mat2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  addmm(mat1: Tensor, mat2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  addmm(mat1: Tensor, mat2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
  /** Like addmm(), but in place. */
  addmm_(mat1: Tensor, mat2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): this;
  addmm_(mat1: Tensor, mat2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): this;
  addmm_(mat1: Tensor, mat2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): this;
  /** addmm for every matrix of a batch. */
  baddbmm(batch1: Tensor, batch2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  baddbmm(batch1: Tensor, batch2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  baddbmm(batch1: Tensor, batch2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
  /** Like baddbmm(), but in place. */
  baddbmm_(batch1: Tensor, batch2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): this;
  baddbmm_(batch1: Tensor, batch2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): this;
  baddbmm_(batch1: Tensor, batch2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): this;
  /** input @ weightᵀ + bias over the last dim, for any leading dims. */
  linear(weight: Tensor, bias?: Tensor | null): Tensor;
  linear(weight: Tensor, options: { bias?: Tensor | null }): Tensor;
  /** input1 @ weight[o] @ input2 + bias[o] for every output o. */
  bilinear(input2: Tensor, weight: Tensor, bias?: Tensor | null): Tensor;
  bilinear(input2: Tensor, weight: Tensor, options: { bias?: Tensor | null }): Tensor;
  /** Every element of one vector times every element of another. */
  outer(vec2: Tensor): Tensor;
  /** The codes of 4 or 8 bits and the scales by which dequantize comes closest to a matrix; groupSize columns of a row (default: all) share a scale. Has no gradient. */
  quantize(bits?: number, groupSize?: number | null): [codes: Tensor, scale: Tensor];
  quantize(options: { bits?: number; groupSize?: number | null }): [codes: Tensor, scale: Tensor];
  quantize(bits: number, options: { groupSize?: number | null }): [codes: Tensor, scale: Tensor];
  /** The numbers of a matrix of 4 or 8 bits: (code - 2^(bits - 1)) * scale, where groupSize columns of a row (default: all) share a scale; with 4 bits a byte has two columns, the lower bits first. */
  dequantize(scale: Tensor, bits?: number, groupSize?: number | null): Tensor;
  dequantize(scale: Tensor, options: { bits?: number; groupSize?: number | null }): Tensor;
  dequantize(scale: Tensor, bits: number, options: { groupSize?: number | null }): Tensor;
  /** linear with a weight that dequantize describes, whose numbers exist only block by block. */
  quantizedLinear(weight: Tensor, scale: Tensor, bias?: Tensor | null, bits?: number, groupSize?: number | null): Tensor;
  quantizedLinear(weight: Tensor, scale: Tensor, options: { bias?: Tensor | null; bits?: number; groupSize?: number | null }): Tensor;
  quantizedLinear(weight: Tensor, scale: Tensor, bias: Tensor | null, options: { bits?: number; groupSize?: number | null }): Tensor;
  quantizedLinear(weight: Tensor, scale: Tensor, bias: Tensor | null, bits: number, options: { groupSize?: number | null }): Tensor;
  /** Determinant of every square matrix. */
  det(): Tensor;
  /** `[sign, logabsdet]`: the determinant as sign, of complex matrices a number of magnitude 1, and logarithm of its magnitude. */
  slogdet(): [sign: Tensor, logabsdet: Tensor];
  /** Inverse of every square matrix. */
  inverse(): Tensor;
  /** The lower triangular L with input = L Lᴴ for positive-definite matrices; with upper, Lᴴ. */
  cholesky(upper?: boolean): Tensor;
  cholesky(options: { upper?: boolean }): Tensor;
  /** The X with A X = B, or with X A = B if left is false; B is a matrix or a vector. */
  solve(B: Tensor, left?: boolean): Tensor;
  solve(B: Tensor, options: { left?: boolean }): Tensor;
  /** Kronecker product: the blocks are other times each element of input. */
  kron(other: Tensor): Tensor;
  /** Cross product of the vectors of size 3 along dim. */
  cross(other: Tensor, dim?: number): Tensor;
  cross(other: Tensor, options: { dim?: number }): Tensor;
  /** [Q, R] with A = Q R: Q has orthonormal columns and R is upper triangular. */
  qr(mode?: "reduced" | "complete" | "r"): [Q: Tensor, R: Tensor];
  qr(options: { mode?: "reduced" | "complete" | "r" }): [Q: Tensor, R: Tensor];
  /** [U, S, Vh] with A = U diag(S) Vh: U and V have orthonormal columns, and S descends. With fullMatrices U and Vh are square. */
  svd(fullMatrices?: boolean): [U: Tensor, S: Tensor, Vh: Tensor];
  svd(options: { fullMatrices?: boolean }): [U: Tensor, S: Tensor, Vh: Tensor];
  /** The singular values of A in descending order. */
  svdvals(): Tensor;
  /** [L, V] with A V = V diag(L) for a Hermitian A, of which only the triangle UPLO is read: ascending eigenvalues and orthonormal eigenvectors. */
  eigh(UPLO?: "L" | "U"): [L: Tensor, V: Tensor];
  eigh(options: { UPLO?: "L" | "U" }): [L: Tensor, V: Tensor];
  /** The eigenvalues of Hermitian matrices in ascending order. */
  eigvalsh(UPLO?: "L" | "U"): Tensor;
  eigvalsh(options: { UPLO?: "L" | "U" }): Tensor;
  /** [L, V] with A V = V diag(L) for any square A: eigenvalues in no particular order and eigenvectors of length 1, complex even for real A. */
  eig(): [L: Tensor, V: Tensor];
  /** The eigenvalues of square matrices, in no particular order. */
  eigvals(): Tensor;
  /** The X with A X = B, or with X A = B if left is false, for a triangular A. The other triangle is not read; with unitriangular, the diagonal counts as 1 and is not read either. */
  solveTriangular(B: Tensor, upper: boolean, left?: boolean, unitriangular?: boolean): Tensor;
  solveTriangular(B: Tensor, upper: boolean, options: { left?: boolean; unitriangular?: boolean }): Tensor;
  solveTriangular(B: Tensor, upper: boolean, left: boolean, options: { unitriangular?: boolean }): Tensor;
  /** `[LU, pivots]`: the LU factors of A with row exchanges in one matrix, L below the diagonal, and the exchanged rows, counted from 1. */
  luFactor(pivot?: boolean): [LU: Tensor, pivots: Tensor];
  luFactor(options: { pivot?: boolean }): [LU: Tensor, pivots: Tensor];
  /** [P, L, U] with A = P L U: a permutation and two triangular matrices; L has ones on its diagonal. */
  lu(pivot?: boolean): [P: Tensor, L: Tensor, U: Tensor];
  lu(options: { pivot?: boolean }): [P: Tensor, L: Tensor, U: Tensor];
  /** The pseudo-inverse: singular values of at most max(atol, rtol * largest) count as zero. With hermitian, A is its own adjoint. */
  pinv(atol?: number | null, rtol?: number | null, hermitian?: boolean): Tensor;
  pinv(options: { atol?: number | null; rtol?: number | null; hermitian?: boolean }): Tensor;
  pinv(atol: number | null, options: { rtol?: number | null; hermitian?: boolean }): Tensor;
  pinv(atol: number | null, rtol: number | null, options: { hermitian?: boolean }): Tensor;
  /** `[solution, residuals, rank, singularValues]`: the X of least norm that minimizes |A X - B|. Squared residuals are returned for a tall A of full rank by all drivers but gelsy, singular values by gelsd and gelss, and the rank by all but gels. */
  lstsq(B: Tensor, rcond?: number | null, driver?: "gelsy" | "gels" | "gelsd" | "gelss"): [solution: Tensor, residuals: Tensor, rank: Tensor, singularValues: Tensor];
  lstsq(B: Tensor, options: { rcond?: number | null; driver?: "gelsy" | "gels" | "gelsd" | "gelss" }): [solution: Tensor, residuals: Tensor, rank: Tensor, singularValues: Tensor];
  lstsq(B: Tensor, rcond: number | null, options: { driver?: "gelsy" | "gels" | "gelsd" | "gelss" }): [solution: Tensor, residuals: Tensor, rank: Tensor, singularValues: Tensor];
  /** beta * input + alpha * (mat @ vec). */
  addmv(mat: Tensor, vec: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  addmv(mat: Tensor, vec: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  addmv(mat: Tensor, vec: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
  /** Like addmv(), but in place. */
  addmv_(mat: Tensor, vec: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): this;
  addmv_(mat: Tensor, vec: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): this;
  addmv_(mat: Tensor, vec: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): this;
  /** beta * input + alpha * outer(vec1, vec2). */
  addr(vec1: Tensor, vec2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  addr(vec1: Tensor, vec2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  addr(vec1: Tensor, vec2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
  /** Like addr(), but in place. */
  addr_(vec1: Tensor, vec2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): this;
  addr_(vec1: Tensor, vec2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): this;
  addr_(vec1: Tensor, vec2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): this;
  /** beta * input + alpha * the sum over a batch of matrix products. */
  addbmm(batch1: Tensor, batch2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): Tensor;
  addbmm(batch1: Tensor, batch2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): Tensor;
  addbmm(batch1: Tensor, batch2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): Tensor;
  /** Like addbmm(), but in place. */
  addbmm_(batch1: Tensor, batch2: Tensor, beta?: Scalar | Complex, alpha?: Scalar | Complex): this;
  addbmm_(batch1: Tensor, batch2: Tensor, options: { beta?: Scalar | Complex; alpha?: Scalar | Complex }): this;
  addbmm_(batch1: Tensor, batch2: Tensor, beta: Scalar | Complex, options: { alpha?: Scalar | Complex }): this;
  /** input with slices along dim of a p-norm above maxnorm scaled down to maxnorm. */
  renorm(p: number, dim: number, maxnorm: number): Tensor;
  /** Like renorm(), but in place. */
  renorm_(p: number, dim: number, maxnorm: number): this;
  /** Subtracts the mean and divides by the standard deviation over the last dims, then scales and shifts. */
  layerNorm(normalizedShape: Ints, weight?: Tensor | null, bias?: Tensor | null, eps?: number): Tensor;
  layerNorm(normalizedShape: Ints, options: { weight?: Tensor | null; bias?: Tensor | null; eps?: number }): Tensor;
  layerNorm(normalizedShape: Ints, weight: Tensor | null, options: { bias?: Tensor | null; eps?: number }): Tensor;
  layerNorm(normalizedShape: Ints, weight: Tensor | null, bias: Tensor | null, options: { eps?: number }): Tensor;
  /** Divides by the root mean square over the last dims, then scales; the default eps is the epsilon of the dtype. */
  rmsNorm(normalizedShape: Ints, weight?: Tensor | null, eps?: number | null): Tensor;
  rmsNorm(normalizedShape: Ints, options: { weight?: Tensor | null; eps?: number | null }): Tensor;
  rmsNorm(normalizedShape: Ints, weight: Tensor | null, options: { eps?: number | null }): Tensor;
  /** Normalizes every channel by its mean and variance over the batch, or by the running ones; in training, the running ones are updated with momentum. */
  batchNorm(runningMean: Tensor | null, runningVar: Tensor | null, weight?: Tensor | null, bias?: Tensor | null, training?: boolean, momentum?: number, eps?: number): Tensor;
  batchNorm(runningMean: Tensor | null, runningVar: Tensor | null, options: { weight?: Tensor | null; bias?: Tensor | null; training?: boolean; momentum?: number; eps?: number }): Tensor;
  batchNorm(runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, options: { bias?: Tensor | null; training?: boolean; momentum?: number; eps?: number }): Tensor;
  batchNorm(runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, bias: Tensor | null, options: { training?: boolean; momentum?: number; eps?: number }): Tensor;
  batchNorm(runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, bias: Tensor | null, training: boolean, options: { momentum?: number; eps?: number }): Tensor;
  batchNorm(runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, bias: Tensor | null, training: boolean, momentum: number, options: { eps?: number }): Tensor;
  /** Normalizes groups of channels of every sample, then scales and shifts every channel. */
  groupNorm(numGroups: number, weight?: Tensor | null, bias?: Tensor | null, eps?: number): Tensor;
  groupNorm(numGroups: number, options: { weight?: Tensor | null; bias?: Tensor | null; eps?: number }): Tensor;
  groupNorm(numGroups: number, weight: Tensor | null, options: { bias?: Tensor | null; eps?: number }): Tensor;
  groupNorm(numGroups: number, weight: Tensor | null, bias: Tensor | null, options: { eps?: number }): Tensor;
  /** Normalizes every channel of every sample by its own statistics, or by running ones. */
  instanceNorm(runningMean?: Tensor | null, runningVar?: Tensor | null, weight?: Tensor | null, bias?: Tensor | null, useInputStats?: boolean, momentum?: number, eps?: number): Tensor;
  instanceNorm(options: { runningMean?: Tensor | null; runningVar?: Tensor | null; weight?: Tensor | null; bias?: Tensor | null; useInputStats?: boolean; momentum?: number; eps?: number }): Tensor;
  instanceNorm(runningMean: Tensor | null, options: { runningVar?: Tensor | null; weight?: Tensor | null; bias?: Tensor | null; useInputStats?: boolean; momentum?: number; eps?: number }): Tensor;
  instanceNorm(runningMean: Tensor | null, runningVar: Tensor | null, options: { weight?: Tensor | null; bias?: Tensor | null; useInputStats?: boolean; momentum?: number; eps?: number }): Tensor;
  instanceNorm(runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, options: { bias?: Tensor | null; useInputStats?: boolean; momentum?: number; eps?: number }): Tensor;
  instanceNorm(runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, bias: Tensor | null, options: { useInputStats?: boolean; momentum?: number; eps?: number }): Tensor;
  instanceNorm(runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, bias: Tensor | null, useInputStats: boolean, options: { momentum?: number; eps?: number }): Tensor;
  instanceNorm(runningMean: Tensor | null, runningVar: Tensor | null, weight: Tensor | null, bias: Tensor | null, useInputStats: boolean, momentum: number, options: { eps?: number }): Tensor;
  /** Vectors along dim divided by their p-norm, or by eps if larger. */
  normalize(p?: number, dim?: Ints, eps?: number): Tensor;
  normalize(options: { p?: number; dim?: Ints; eps?: number }): Tensor;
  normalize(p: number, options: { dim?: Ints; eps?: number }): Tensor;
  normalize(p: number, dim: Ints, options: { eps?: number }): Tensor;
  /** The cosine of the angle between vectors along dim. */
  cosineSimilarity(x2: Tensor, dim?: number, eps?: number): Tensor;
  cosineSimilarity(x2: Tensor, options: { dim?: number; eps?: number }): Tensor;
  cosineSimilarity(x2: Tensor, dim: number, options: { eps?: number }): Tensor;
  /** The p-norm of x1 - x2 + eps along the last dimension. */
  pairwiseDistance(x2: Tensor, p?: number, eps?: number, keepdim?: boolean): Tensor;
  pairwiseDistance(x2: Tensor, options: { p?: number; eps?: number; keepdim?: boolean }): Tensor;
  pairwiseDistance(x2: Tensor, p: number, options: { eps?: number; keepdim?: boolean }): Tensor;
  pairwiseDistance(x2: Tensor, p: number, eps: number, options: { keepdim?: boolean }): Tensor;
  /** The p-norms between the rows of x1 and those of x2. */
  cdist(x2: Tensor, p?: number): Tensor;
  cdist(x2: Tensor, options: { p?: number }): Tensor;
  /** The first half along dim times the sigmoid of the second half. */
  glu(dim?: number): Tensor;
  glu(options: { dim?: number }): Tensor;
  /** input with elements added before and after each dimension, as listed in pad from the last dimension on; negative numbers remove elements. */
  pad(pad: Ints, mode?: "constant" | "reflect" | "replicate" | "circular", value?: number | null): Tensor;
  pad(pad: Ints, options: { mode?: "constant" | "reflect" | "replicate" | "circular"; value?: number | null }): Tensor;
  pad(pad: Ints, mode: "constant" | "reflect" | "replicate" | "circular", options: { value?: number | null }): Tensor;
  /** Resamples the dimensions after the channels to size or by scaleFactor. */
  interpolate(size?: Ints | null, scaleFactor?: number | readonly number[] | null, mode?: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear" | "nearest-exact" | "area", alignCorners?: boolean | null, recomputeScaleFactor?: boolean | null): Tensor;
  interpolate(options: { size?: Ints | null; scaleFactor?: number | readonly number[] | null; mode?: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear" | "nearest-exact" | "area"; alignCorners?: boolean | null; recomputeScaleFactor?: boolean | null }): Tensor;
  interpolate(size: Ints | null, options: { scaleFactor?: number | readonly number[] | null; mode?: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear" | "nearest-exact" | "area"; alignCorners?: boolean | null; recomputeScaleFactor?: boolean | null }): Tensor;
  interpolate(size: Ints | null, scaleFactor: number | readonly number[] | null, options: { mode?: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear" | "nearest-exact" | "area"; alignCorners?: boolean | null; recomputeScaleFactor?: boolean | null }): Tensor;
  interpolate(size: Ints | null, scaleFactor: number | readonly number[] | null, mode: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear" | "nearest-exact" | "area", options: { alignCorners?: boolean | null; recomputeScaleFactor?: boolean | null }): Tensor;
  interpolate(size: Ints | null, scaleFactor: number | readonly number[] | null, mode: "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear" | "nearest-exact" | "area", alignCorners: boolean | null, options: { recomputeScaleFactor?: boolean | null }): Tensor;
  /** The largest element of windows along the last dim. */
  maxPool1d(kernelSize: Ints, stride?: Ints | null, padding?: Ints, dilation?: Ints, ceilMode?: boolean, returnIndices?: false): Tensor;
  maxPool1d(kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: false }): Tensor;
  maxPool1d(kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: false }): Tensor;
  maxPool1d(kernelSize: Ints, stride: Ints | null, padding: Ints, options: { dilation?: Ints; ceilMode?: boolean; returnIndices?: false }): Tensor;
  maxPool1d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, options: { ceilMode?: boolean; returnIndices?: false }): Tensor;
  maxPool1d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, options: { returnIndices?: false }): Tensor;
  maxPool1d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, returnIndices: true): [values: Tensor, indices: Tensor];
  maxPool1d(kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  maxPool1d(kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  maxPool1d(kernelSize: Ints, stride: Ints | null, padding: Ints, options: { dilation?: Ints; ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  maxPool1d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, options: { ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  maxPool1d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, options: { returnIndices: true }): [values: Tensor, indices: Tensor];
  maxPool1d(kernelSize: Ints, stride?: Ints | null, padding?: Ints, dilation?: Ints, ceilMode?: boolean, returnIndices?: boolean): Tensor | [values: Tensor, indices: Tensor];
  maxPool1d(kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  maxPool1d(kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  maxPool1d(kernelSize: Ints, stride: Ints | null, padding: Ints, options: { dilation?: Ints; ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  maxPool1d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, options: { ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  maxPool1d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, options: { returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  /** The largest element of windows over the last two dims; with returnIndices, also its index in the plane, -1 where a window holds only padding. */
  maxPool2d(kernelSize: Ints, stride?: Ints | null, padding?: Ints, dilation?: Ints, ceilMode?: boolean, returnIndices?: false): Tensor;
  maxPool2d(kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: false }): Tensor;
  maxPool2d(kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: false }): Tensor;
  maxPool2d(kernelSize: Ints, stride: Ints | null, padding: Ints, options: { dilation?: Ints; ceilMode?: boolean; returnIndices?: false }): Tensor;
  maxPool2d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, options: { ceilMode?: boolean; returnIndices?: false }): Tensor;
  maxPool2d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, options: { returnIndices?: false }): Tensor;
  maxPool2d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, returnIndices: true): [values: Tensor, indices: Tensor];
  maxPool2d(kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  maxPool2d(kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  maxPool2d(kernelSize: Ints, stride: Ints | null, padding: Ints, options: { dilation?: Ints; ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  maxPool2d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, options: { ceilMode?: boolean; returnIndices: true }): [values: Tensor, indices: Tensor];
  maxPool2d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, options: { returnIndices: true }): [values: Tensor, indices: Tensor];
  maxPool2d(kernelSize: Ints, stride?: Ints | null, padding?: Ints, dilation?: Ints, ceilMode?: boolean, returnIndices?: boolean): Tensor | [values: Tensor, indices: Tensor];
  maxPool2d(kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  maxPool2d(kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; dilation?: Ints; ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  maxPool2d(kernelSize: Ints, stride: Ints | null, padding: Ints, options: { dilation?: Ints; ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  maxPool2d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, options: { ceilMode?: boolean; returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  maxPool2d(kernelSize: Ints, stride: Ints | null, padding: Ints, dilation: Ints, ceilMode: boolean, options: { returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  /** The mean of windows along the last dim. */
  avgPool1d(kernelSize: Ints, stride?: Ints | null, padding?: Ints, ceilMode?: boolean, countIncludePad?: boolean): Tensor;
  avgPool1d(kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; ceilMode?: boolean; countIncludePad?: boolean }): Tensor;
  avgPool1d(kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; ceilMode?: boolean; countIncludePad?: boolean }): Tensor;
  avgPool1d(kernelSize: Ints, stride: Ints | null, padding: Ints, options: { ceilMode?: boolean; countIncludePad?: boolean }): Tensor;
  avgPool1d(kernelSize: Ints, stride: Ints | null, padding: Ints, ceilMode: boolean, options: { countIncludePad?: boolean }): Tensor;
  /** The mean of windows over the last two dims. */
  avgPool2d(kernelSize: Ints, stride?: Ints | null, padding?: Ints, ceilMode?: boolean, countIncludePad?: boolean, divisorOverride?: number | null): Tensor;
  avgPool2d(kernelSize: Ints, options: { stride?: Ints | null; padding?: Ints; ceilMode?: boolean; countIncludePad?: boolean; divisorOverride?: number | null }): Tensor;
  avgPool2d(kernelSize: Ints, stride: Ints | null, options: { padding?: Ints; ceilMode?: boolean; countIncludePad?: boolean; divisorOverride?: number | null }): Tensor;
  avgPool2d(kernelSize: Ints, stride: Ints | null, padding: Ints, options: { ceilMode?: boolean; countIncludePad?: boolean; divisorOverride?: number | null }): Tensor;
  avgPool2d(kernelSize: Ints, stride: Ints | null, padding: Ints, ceilMode: boolean, options: { countIncludePad?: boolean; divisorOverride?: number | null }): Tensor;
  avgPool2d(kernelSize: Ints, stride: Ints | null, padding: Ints, ceilMode: boolean, countIncludePad: boolean, options: { divisorOverride?: number | null }): Tensor;
  /** The mean of windows chosen so that the result has outputSize. */
  adaptiveAvgPool2d(outputSize: OutputSize): Tensor;
  /** The largest element of windows chosen so that the result has outputSize. */
  adaptiveMaxPool2d(outputSize: OutputSize, returnIndices?: false): Tensor;
  adaptiveMaxPool2d(outputSize: OutputSize, options: { returnIndices?: false }): Tensor;
  adaptiveMaxPool2d(outputSize: OutputSize, returnIndices: true): [values: Tensor, indices: Tensor];
  adaptiveMaxPool2d(outputSize: OutputSize, options: { returnIndices: true }): [values: Tensor, indices: Tensor];
  adaptiveMaxPool2d(outputSize: OutputSize, returnIndices?: boolean): Tensor | [values: Tensor, indices: Tensor];
  adaptiveMaxPool2d(outputSize: OutputSize, options: { returnIndices?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  /** Convolution over the last dim. */
  conv1d(weight: Tensor, bias?: Tensor | null, stride?: Ints, padding?: Ints | "valid" | "same", dilation?: Ints, groups?: number): Tensor;
  conv1d(weight: Tensor, options: { bias?: Tensor | null; stride?: Ints; padding?: Ints | "valid" | "same"; dilation?: Ints; groups?: number }): Tensor;
  conv1d(weight: Tensor, bias: Tensor | null, options: { stride?: Ints; padding?: Ints | "valid" | "same"; dilation?: Ints; groups?: number }): Tensor;
  conv1d(weight: Tensor, bias: Tensor | null, stride: Ints, options: { padding?: Ints | "valid" | "same"; dilation?: Ints; groups?: number }): Tensor;
  conv1d(weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints | "valid" | "same", options: { dilation?: Ints; groups?: number }): Tensor;
  conv1d(weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints | "valid" | "same", dilation: Ints, options: { groups?: number }): Tensor;
  /** Convolution over the last two dims. */
  conv2d(weight: Tensor, bias?: Tensor | null, stride?: Ints, padding?: Ints | "valid" | "same", dilation?: Ints, groups?: number): Tensor;
  conv2d(weight: Tensor, options: { bias?: Tensor | null; stride?: Ints; padding?: Ints | "valid" | "same"; dilation?: Ints; groups?: number }): Tensor;
  conv2d(weight: Tensor, bias: Tensor | null, options: { stride?: Ints; padding?: Ints | "valid" | "same"; dilation?: Ints; groups?: number }): Tensor;
  conv2d(weight: Tensor, bias: Tensor | null, stride: Ints, options: { padding?: Ints | "valid" | "same"; dilation?: Ints; groups?: number }): Tensor;
  conv2d(weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints | "valid" | "same", options: { dilation?: Ints; groups?: number }): Tensor;
  conv2d(weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints | "valid" | "same", dilation: Ints, options: { groups?: number }): Tensor;
  /** Transposed convolution over the last dim: the input gradient of conv1d. */
  convTranspose1d(weight: Tensor, bias?: Tensor | null, stride?: Ints, padding?: Ints, outputPadding?: Ints, groups?: number, dilation?: Ints): Tensor;
  convTranspose1d(weight: Tensor, options: { bias?: Tensor | null; stride?: Ints; padding?: Ints; outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  convTranspose1d(weight: Tensor, bias: Tensor | null, options: { stride?: Ints; padding?: Ints; outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  convTranspose1d(weight: Tensor, bias: Tensor | null, stride: Ints, options: { padding?: Ints; outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  convTranspose1d(weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints, options: { outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  convTranspose1d(weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints, outputPadding: Ints, options: { groups?: number; dilation?: Ints }): Tensor;
  convTranspose1d(weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints, outputPadding: Ints, groups: number, options: { dilation?: Ints }): Tensor;
  /** Transposed convolution over the last two dims: the input gradient of conv2d. */
  convTranspose2d(weight: Tensor, bias?: Tensor | null, stride?: Ints, padding?: Ints, outputPadding?: Ints, groups?: number, dilation?: Ints): Tensor;
  convTranspose2d(weight: Tensor, options: { bias?: Tensor | null; stride?: Ints; padding?: Ints; outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  convTranspose2d(weight: Tensor, bias: Tensor | null, options: { stride?: Ints; padding?: Ints; outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  convTranspose2d(weight: Tensor, bias: Tensor | null, stride: Ints, options: { padding?: Ints; outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  convTranspose2d(weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints, options: { outputPadding?: Ints; groups?: number; dilation?: Ints }): Tensor;
  convTranspose2d(weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints, outputPadding: Ints, options: { groups?: number; dilation?: Ints }): Tensor;
  convTranspose2d(weight: Tensor, bias: Tensor | null, stride: Ints, padding: Ints, outputPadding: Ints, groups: number, options: { dilation?: Ints }): Tensor;
  /** softmax(query keyᵀ * scale + mask) value; a bool mask is true where attention is allowed. */
  scaledDotProductAttention(key: Tensor, value: Tensor, attnMask?: Tensor | null, dropoutP?: number, isCausal?: boolean, scale?: number | null, enableGqa?: boolean): Tensor;
  scaledDotProductAttention(key: Tensor, value: Tensor, options: { attnMask?: Tensor | null; dropoutP?: number; isCausal?: boolean; scale?: number | null; enableGqa?: boolean }): Tensor;
  scaledDotProductAttention(key: Tensor, value: Tensor, attnMask: Tensor | null, options: { dropoutP?: number; isCausal?: boolean; scale?: number | null; enableGqa?: boolean }): Tensor;
  scaledDotProductAttention(key: Tensor, value: Tensor, attnMask: Tensor | null, dropoutP: number, options: { isCausal?: boolean; scale?: number | null; enableGqa?: boolean }): Tensor;
  scaledDotProductAttention(key: Tensor, value: Tensor, attnMask: Tensor | null, dropoutP: number, isCausal: boolean, options: { scale?: number | null; enableGqa?: boolean }): Tensor;
  scaledDotProductAttention(key: Tensor, value: Tensor, attnMask: Tensor | null, dropoutP: number, isCausal: boolean, scale: number | null, options: { enableGqa?: boolean }): Tensor;
  /** `[values, indices]`: the elements along dim in order. */
  sort(dim?: number, descending?: boolean, stable?: boolean): [values: Tensor, indices: Tensor];
  sort(options: { dim?: number; descending?: boolean; stable?: boolean }): [values: Tensor, indices: Tensor];
  sort(dim: number, options: { descending?: boolean; stable?: boolean }): [values: Tensor, indices: Tensor];
  sort(dim: number, descending: boolean, options: { stable?: boolean }): [values: Tensor, indices: Tensor];
  /** The indices that put the elements along dim in order. */
  argsort(dim?: number, descending?: boolean, stable?: boolean): Tensor;
  argsort(options: { dim?: number; descending?: boolean; stable?: boolean }): Tensor;
  argsort(dim: number, options: { descending?: boolean; stable?: boolean }): Tensor;
  argsort(dim: number, descending: boolean, options: { stable?: boolean }): Tensor;
  /** The elements along the first dimension in order. */
  msort(): Tensor;
  /** `[values, indices]`: the k largest, or smallest, elements along dim, in order. */
  topk(k: number, dim?: number, largest?: boolean, sorted?: boolean): [values: Tensor, indices: Tensor];
  topk(k: number, options: { dim?: number; largest?: boolean; sorted?: boolean }): [values: Tensor, indices: Tensor];
  topk(k: number, dim: number, options: { largest?: boolean; sorted?: boolean }): [values: Tensor, indices: Tensor];
  topk(k: number, dim: number, largest: boolean, options: { sorted?: boolean }): [values: Tensor, indices: Tensor];
  /** `[values, indices]`: the k-th smallest element along dim, counted from one. */
  kthvalue(k: number, dim?: number, keepdim?: boolean): [values: Tensor, indices: Tensor];
  kthvalue(k: number, options: { dim?: number; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  kthvalue(k: number, dim: number, options: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  /** The middle element, the lower one of two; along dim, [values, indices]. */
  median(dim?: null, keepdim?: boolean): Tensor;
  median(options: { dim?: null; keepdim?: boolean }): Tensor;
  median(dim: null, options: { keepdim?: boolean }): Tensor;
  median(dim: number, keepdim?: boolean): [values: Tensor, indices: Tensor];
  median(options: { dim: number; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  median(dim: number, options: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  median(dim?: number | null, keepdim?: boolean): Tensor | [values: Tensor, indices: Tensor];
  median(options: { dim?: number | null; keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  median(dim: number | null, options: { keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  /** The median of the elements that are not NaN; along dim, [values, indices]. */
  nanmedian(dim?: null, keepdim?: boolean): Tensor;
  nanmedian(options: { dim?: null; keepdim?: boolean }): Tensor;
  nanmedian(dim: null, options: { keepdim?: boolean }): Tensor;
  nanmedian(dim: number, keepdim?: boolean): [values: Tensor, indices: Tensor];
  nanmedian(options: { dim: number; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  nanmedian(dim: number, options: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  nanmedian(dim?: number | null, keepdim?: boolean): Tensor | [values: Tensor, indices: Tensor];
  nanmedian(options: { dim?: number | null; keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  nanmedian(dim: number | null, options: { keepdim?: boolean }): Tensor | [values: Tensor, indices: Tensor];
  /** `[values, indices]`: the most frequent element along dim, or the smallest of those, and the index of its last occurrence. */
  mode(dim?: number, keepdim?: boolean): [values: Tensor, indices: Tensor];
  mode(options: { dim?: number; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  mode(dim: number, options: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  /** `[values, indices]`: running maxima along dim; of equal elements, the last. */
  cummax(dim: number): [values: Tensor, indices: Tensor];
  /** `[values, indices]`: running minima along dim; of equal elements, the last. */
  cummin(dim: number): [values: Tensor, indices: Tensor];
  /** Running sums along dim. */
  cumsum(dim: number, dtype?: DType | null): Tensor;
  cumsum(dim: number, options: { dtype?: DType | null }): Tensor;
  /** Like cumsum(), but in place. */
  cumsum_(dim: number, dtype?: DType | null): this;
  cumsum_(dim: number, options: { dtype?: DType | null }): this;
  /** Running products along dim. */
  cumprod(dim: number, dtype?: DType | null): Tensor;
  cumprod(dim: number, options: { dtype?: DType | null }): Tensor;
  /** Like cumprod(), but in place. */
  cumprod_(dim: number, dtype?: DType | null): this;
  cumprod_(dim: number, options: { dtype?: DType | null }): this;
  /** Logarithms of running sums of exp(input) along dim. */
  logcumsumexp(dim: number): Tensor;
  /** Differences of neighbors along dim, taken n times; prepend and append are joined to input first. */
  diff(n?: number, dim?: number, prepend?: Tensor | null, append?: Tensor | null): Tensor;
  diff(options: { n?: number; dim?: number; prepend?: Tensor | null; append?: Tensor | null }): Tensor;
  diff(n: number, options: { dim?: number; prepend?: Tensor | null; append?: Tensor | null }): Tensor;
  diff(n: number, dim: number, options: { prepend?: Tensor | null; append?: Tensor | null }): Tensor;
  diff(n: number, dim: number, prepend: Tensor | null, options: { append?: Tensor | null }): Tensor;
  /** Indices drawn at random from each row of input, whose elements are their weights. */
  multinomial(numSamples: number, replacement?: boolean, options?: GeneratorOption): Tensor;
  multinomial(numSamples: number, options: { replacement?: boolean } & GeneratorOption): Tensor;
  /** Poisson samples with the rates in input. */
  poisson(options?: GeneratorOption): Tensor;
  /** The number of successes in count random trials of probability prob. */
  binomial(prob: Tensor, options?: GeneratorOption): Tensor;
  /** Leaky ReLU whose slopes are random numbers in [lower, upper) in training. */
  rrelu(lower?: number, upper?: number, training?: boolean): Tensor;
  rrelu(options: { lower?: number; upper?: number; training?: boolean }): Tensor;
  rrelu(lower: number, options: { upper?: number; training?: boolean }): Tensor;
  rrelu(lower: number, upper: number, options: { training?: boolean }): Tensor;
  /** Sets the elements of input to the number of trials up to the first success. */
  geometric_(p: number, options?: GeneratorOption): this;
  /** Sets the elements of input to Cauchy samples. */
  cauchy_(median?: number, sigma?: number, options?: GeneratorOption): this;
  cauchy_(options: { median?: number; sigma?: number } & GeneratorOption): this;
  cauchy_(median: number, options: { sigma?: number } & GeneratorOption): this;
  /** Sets the elements of input to log-normal samples. */
  logNormal_(mean?: number, std?: number, options?: GeneratorOption): this;
  logNormal_(options: { mean?: number; std?: number } & GeneratorOption): this;
  logNormal_(mean: number, options: { std?: number } & GeneratorOption): this;
  /** A real view of a complex tensor, with a last dimension of size two for the real and imaginary parts. */
  viewAsReal(): Tensor;
  /** A complex view of a real tensor whose last dimension, of size two, holds real and imaginary parts. */
  viewAsComplex(): Tensor;
  /** A view of the real parts; for a real tensor, itself. */
  real(): Tensor;
  /** A view of the imaginary parts of a complex tensor. */
  imag(): Tensor;
  /** The complex conjugate of every element; for a real tensor, itself. */
  conj(): Tensor;
  /** The argument of every element in radians, in [-pi, pi]; for real numbers 0 or, if negative, pi. */
  angle(): Tensor;
  /** The complex numbers real + i imag, with broadcasting. */
  complex(imag: Tensor): Tensor;
  /** Complex numbers of magnitude abs and argument angle, in radians. */
  polar(angle: Tensor): Tensor;
  /** Discrete Fourier transform along dim, of input cut or zero-padded to size n. */
  fft(n?: number | null, dim?: number, norm?: "backward" | "ortho" | "forward"): Tensor;
  fft(options: { n?: number | null; dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  fft(n: number | null, options: { dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  fft(n: number | null, dim: number, options: { norm?: "backward" | "ortho" | "forward" }): Tensor;
  /** The inverse of fft. */
  ifft(n?: number | null, dim?: number, norm?: "backward" | "ortho" | "forward"): Tensor;
  ifft(options: { n?: number | null; dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  ifft(n: number | null, options: { dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  ifft(n: number | null, dim: number, options: { norm?: "backward" | "ortho" | "forward" }): Tensor;
  /** fft of real numbers without the second half of the result, which mirrors the first. */
  rfft(n?: number | null, dim?: number, norm?: "backward" | "ortho" | "forward"): Tensor;
  rfft(options: { n?: number | null; dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  rfft(n: number | null, options: { dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  rfft(n: number | null, dim: number, options: { norm?: "backward" | "ortho" | "forward" }): Tensor;
  /** The inverse of rfft: n real numbers, by default 2 (size - 1). Imaginary parts that the spectrum of a real signal cannot have are ignored. */
  irfft(n?: number | null, dim?: number, norm?: "backward" | "ortho" | "forward"): Tensor;
  irfft(options: { n?: number | null; dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  irfft(n: number | null, options: { dim?: number; norm?: "backward" | "ortho" | "forward" }): Tensor;
  irfft(n: number | null, dim: number, options: { norm?: "backward" | "ortho" | "forward" }): Tensor;
}
