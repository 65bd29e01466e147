// Exponentials and logarithms: the argument is reduced exactly, then a series is evaluated to float32
// accuracy.

const kLog2E = 1.4426950408889634f;
const kLn2 = 0.6931471805599453f;
// ln 2 in two parts; the product of an exponent and the first part is exact.
const kLn2High = 0x1.63p-1f;
const kLn2Low = -0x1.bd0106p-13f;

// exp(r) - 1 for |r| <= 0.4.
fn expm1_series_f32(r: f32) -> f32 {
  var tail = 1f / 5040f;
  tail = tail * r + 1f / 720f;
  tail = tail * r + 1f / 120f;
  tail = tail * r + 1f / 24f;
  tail = tail * r + 1f / 6f;
  tail = tail * r + 0.5f;
  return r + r * r * tail;
}

// 2^n for exponents of normal numbers.
fn power_of_two_f32(n: i32) -> f32 {
  return bitcast<f32>(u32(n + 127) << 23u);
}

// y 2^n; the power is applied in two factors, because 2^n may overflow even if y 2^n does not.
fn scale_f32(y: f32, n: i32) -> f32 {
  let half = n >> 1u;
  return y * power_of_two_f32(half) * power_of_two_f32(n - half);
}

// Clamps x. NaN is returned unchanged, because comparisons with it are false.
fn limit_f32(x: f32, low: f32, high: f32) -> f32 {
  let at_least = select(x, low, x < low);
  return select(at_least, high, at_least > high);
}

// exp(x + correction), where the correction is the rounding error of x.
fn exp_of_sum_f32(x: f32, correction: f32) -> f32 {
  let limited = limit_f32(x, -104f, 89f);
  let n = round(limited * kLog2E);
  let rest = (limited - n * kLn2High) - n * kLn2Low;
  let result = scale_f32(expm1_series_f32(rest + correction) + 1f, i32(n));
  return select(result, x, is_nan_f32(x));
}

fn exp_f32(x: f32) -> f32 {
  return exp_of_sum_f32(x, 0f);
}

fn exp2_f32(x: f32) -> f32 {
  let limited = limit_f32(x, -151f, 129f);
  let n = round(limited);
  let result = scale_f32(expm1_series_f32((limited - n) * kLn2) + 1f, i32(n));
  return select(result, x, is_nan_f32(x));
}

fn expm1_f32(x: f32) -> f32 {
  let limited = limit_f32(x, -50f, 89f);
  let n = round(limited * kLog2E);
  let series = expm1_series_f32((limited - n * kLn2High) - n * kLn2Low);
  // Uses half of 2^n, because 2^n is not representable at the upper end.
  let half = power_of_two_f32(i32(n) - 1);
  let scaled = (series * half + (half - 0.5f)) * 2f;
  return select(select(scaled, series, n == 0f), x, is_nan_f32(x) | (abs_f32(x) == 0f));
}

// log(1 + f) for sqrt(1/2) <= 1 + f < sqrt(2): twice the series of artanh(f / (2 + f)).
fn log1p_series_f32(f: f32) -> f32 {
  let s = f / (f + 2f);
  let z = s * s;
  let series = z * (2f / 3f + z * (2f / 5f + z * (2f / 7f + z * (2f / 9f))));
  // Arranged so that f itself, the leading term, is not rounded.
  let half_square = f * f * 0.5f;
  return f - (half_square - s * (half_square + series));
}

// A positive finite number as mantissa and exponent; sqrt(1/2) <= mantissa < sqrt(2). Computed from the
// bits, so that it also works for denormal numbers.
struct Parts {
  mantissa: f32,
  exponent: f32,
}

fn parts_f32(x: f32) -> Parts {
  const kSqrtHalf = 0x3f3504f3u;
  var bits = bitcast<u32>(x);
  var exponent = -127;
  if (bits < 0x00800000u) {
    // Shift the leading one to the position where a normal number has exponent 1.
    let shift = countLeadingZeros(bits) - 8u;
    bits <<= shift;
    exponent -= i32(shift);
  }
  bits += 0x3f800000u - kSqrtHalf;
  exponent += i32(bits >> 23u);
  return Parts(bitcast<f32>((bits & 0x007fffffu) + kSqrtHalf), f32(exponent));
}

// The values of a logarithm at zero, for negative numbers, infinity and NaN; otherwise `inside`.
fn log_limits_f32(x: f32, inside: f32) -> f32 {
  let bits = bitcast<u32>(x);
  if ((bits & kMagnitudeBits) == 0u) {
    return -infinity_f32();
  }
  if (bits > kInfinityBits) {
    return nan_f32();
  }
  return select(inside, x, bits == kInfinityBits);
}

fn log_f32(x: f32) -> f32 {
  let parts = parts_f32(x);
  let fraction = log1p_series_f32(parts.mantissa - 1f);
  return log_limits_f32(x, parts.exponent * kLn2High + (fraction + parts.exponent * kLn2Low));
}

fn log2_f32(x: f32) -> f32 {
  let parts = parts_f32(x);
  return log_limits_f32(x, parts.exponent + log1p_series_f32(parts.mantissa - 1f) * kLog2E);
}

fn log10_f32(x: f32) -> f32 {
  const kLog10E = 0.4342944819032518f;
  // log10(2) in two parts; the product of an exponent and the first part is exact.
  const kLog10Of2High = 0x1.344p-2f;
  const kLog10Of2Low = 4.60503898e-06f;
  let parts = parts_f32(x);
  let fraction = log1p_series_f32(parts.mantissa - 1f) * kLog10E;
  return log_limits_f32(x, parts.exponent * kLog10Of2High + (fraction + parts.exponent * kLog10Of2Low));
}

// If the exponent of 1 + x is 0, x is used in the series directly. Otherwise the logarithm is so large
// that the rounding error of 1 + x is negligible.
fn log1p_f32(x: f32) -> f32 {
  if (x > -0.29f && x < 0.41f) {
    return log1p_series_f32(x);
  }
  return log_f32(1f + x);
}

fn sigmoid_f32(x: f32) -> f32 {
  // exp of a negative number cannot overflow, and is accurate if the result is tiny.
  let e = exp_f32(-abs_f32(x));
  return select(1f, e, x < 0f) / (e + 1f);
}

fn tanh_f32(x: f32) -> f32 {
  let magnitude = abs_f32(x);
  let e = expm1_f32(2f * select(magnitude, 20f, magnitude > 20f));
  return copysign_f32(e / (e + 2f), x);
}

// exp(x) / 2 for x >= 0, also if exp(x) would overflow.
fn half_exp_f32(x: f32) -> f32 {
  if (x < 80f) {
    return 0.5f * exp_f32(x);
  }
  let root = exp_f32(0.5f * x);
  return 0.5f * root * root;
}

fn sinh_f32(x: f32) -> f32 {
  let magnitude = abs_f32(x);
  if (magnitude > 80f) {
    return copysign_f32(half_exp_f32(magnitude), x);
  }
  let e = expm1_f32(magnitude);
  return copysign_f32(0.5f * (e + e / (e + 1f)), x);
}

fn cosh_f32(x: f32) -> f32 {
  let half = half_exp_f32(abs_f32(x));
  return half + 0.25f / half;
}

fn asinh_f32(x: f32) -> f32 {
  let magnitude = abs_f32(x);
  if (magnitude > 10000f) {
    return copysign_f32(log_f32(magnitude) + kLn2, x);
  }
  let square = magnitude * magnitude;
  return copysign_f32(log1p_f32(magnitude + square / (1f + sqrt_f32(square + 1f))), x);
}

fn acosh_f32(x: f32) -> f32 {
  if (x > 10000f) {
    return log_f32(x) + kLn2;
  }
  if (x < 1f) {
    return nan_f32();
  }
  let t = x - 1f;
  return log1p_f32(t + sqrt_f32(t * (t + 2f)));
}

fn atanh_f32(x: f32) -> f32 {
  let magnitude = abs_f32(x);
  return copysign_f32(0.5f * log1p_f32(2f * magnitude / (1f - magnitude)), x);
}
