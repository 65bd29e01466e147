// NaN, infinity and signs, computed from bits, and the words that depend on nothing else.

const kSignBit = 0x80000000u;
const kMagnitudeBits = 0x7fffffffu;
const kInfinityBits = 0x7f800000u;

fn is_nan_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & kMagnitudeBits) > kInfinityBits;
}

fn is_finite_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & kMagnitudeBits) < kInfinityBits;
}

fn is_infinite_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & kMagnitudeBits) == kInfinityBits;
}

fn is_negative_f32(x: f32) -> bool {
  return bitcast<u32>(x) >= kSignBit;
}

// These functions use variables, because a constant expression that is NaN or infinite is an error in WGSL.
fn nan_f32() -> f32 {
  var bits = 0x7fc00000u;
  return bitcast<f32>(bits);
}

fn infinity_f32() -> f32 {
  var bits = kInfinityBits;
  return bitcast<f32>(bits);
}

// a != b. Checks for NaN explicitly, because compilers may assume that there is none.
fn differ_f32(a: f32, b: f32) -> bool {
  return (a != b) | is_nan_f32(a) | is_nan_f32(b);
}

// x - x: 0, or NaN if x is not finite.
fn zero_if_finite_f32(x: f32) -> f32 {
  return select(bitcast<f32>(bitcast<u32>(x) | 0x7fc00000u), 0f, is_finite_f32(x));
}

// x * 0: a zero with the sign of x, or NaN if x is not finite.
fn times_zero_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  return bitcast<f32>(select(bits | 0x7fc00000u, bits & kSignBit, is_finite_f32(x)));
}

fn abs_f32(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) & kMagnitudeBits);
}

fn copysign_f32(magnitude: f32, sign: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(magnitude) & kMagnitudeBits) | (bitcast<u32>(sign) & kSignBit));
}

// The sign of x; 0 for NaN.
fn sign_f32(x: f32) -> f32 {
  let is_zero = is_nan_f32(x) | (abs_f32(x) == 0f);
  return select(copysign_f32(1f, x), 0f, is_zero);
}

fn sgn_f32(x: f32) -> f32 {
  return sign_f32(x);
}

fn floor_f32(x: f32) -> f32 {
  return floor(x);
}

fn ceil_f32(x: f32) -> f32 {
  return ceil(x);
}

// WGSL's round() rounds halves to even.
fn round_f32(x: f32) -> f32 {
  return round(x);
}

fn trunc_f32(x: f32) -> f32 {
  return trunc(x);
}

// Handles zero and infinity separately: a device may compute the root as x / sqrt(x), which would be NaN.
fn sqrt_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  if ((bits & kMagnitudeBits) == 0u || bits == kInfinityBits) {
    return x;
  }
  if (bits > kInfinityBits) {
    return nan_f32();
  }
  return sqrt(x);
}

fn rsqrt_f32(x: f32) -> f32 {
  return 1f / sqrt_f32(x);
}

fn maximum_f32(a: f32, b: f32) -> f32 {
  return select(b, a, (a > b) | is_nan_f32(a));
}

fn minimum_f32(a: f32, b: f32) -> f32 {
  return select(b, a, (a < b) | is_nan_f32(a));
}

fn fmax_f32(a: f32, b: f32) -> f32 {
  return select(b, a, (a >= b) | is_nan_f32(b));
}

fn fmin_f32(a: f32, b: f32) -> f32 {
  return select(b, a, (a <= b) | is_nan_f32(b));
}
