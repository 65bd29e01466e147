// Arithmetic of complex numbers: pairs of a real and an imaginary part.
//
// The CPU computes in double, where squares of floats do not overflow. Here, numbers are scaled to a magnitude near 1
// by a power of two before they are squared; that scaling is exact.

fn differ_c64(a: vec2<f32>, b: vec2<f32>) -> bool {
  return differ_f32(a.x, b.x) | differ_f32(a.y, b.y);
}

fn is_nan_c64(z: vec2<f32>) -> bool {
  return is_nan_f32(z.x) | is_nan_f32(z.y);
}

fn is_finite_c64(z: vec2<f32>) -> bool {
  return is_finite_f32(z.x) & is_finite_f32(z.y);
}

fn is_zero_c64(z: vec2<f32>) -> bool {
  return abs_f32(z.x) == 0f && abs_f32(z.y) == 0f;
}

// The exponent of the larger part; 0 if it has none.
fn exponent_c64(z: vec2<f32>) -> i32 {
  let larger = max(bitcast<u32>(z.x) & kMagnitudeBits, bitcast<u32>(z.y) & kMagnitudeBits);
  return select(i32(larger >> 23u) - 127, 0, larger == 0u || larger >= kInfinityBits);
}

// z 2^n; infinite or zero if n is beyond all exponents.
fn scale_c64(z: vec2<f32>, n: i32) -> vec2<f32> {
  let limited = clamp(n, -252, 252);
  return vec2(scale_f32(z.x, limited), scale_f32(z.y, limited));
}

// x factor; zero if the factor is zero, even if x is infinite or NaN.
fn part_f32(x: f32, factor: f32) -> f32 {
  return select(x * factor, factor, factor == 0f);
}

fn mul_c64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

fn div_c64(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  if (is_zero_c64(b)) {
    return a / abs_f32(b.x);
  }
  if (!is_finite_c64(b)) {
    let is_small = is_finite_c64(a) && !is_nan_c64(b) && is_finite_f32(b.x) != is_finite_f32(b.y);
    return select(vec2(nan_f32()), vec2(0f), is_small);
  }
  let from_a = exponent_c64(a);
  let from_b = exponent_c64(b);
  let x = scale_c64(a, -from_a);
  let y = scale_c64(b, -from_b);
  return scale_c64(mul_c64(x, vec2(y.x, -y.y)) / dot(y, y), from_a - from_b);
}

fn abs_c64(z: vec2<f32>) -> f32 {
  return hypot_f32(z.x, z.y);
}

fn sgn_c64(z: vec2<f32>) -> vec2<f32> {
  if (is_zero_c64(z)) {
    return vec2(0f);
  }
  let scaled = scale_c64(z, -exponent_c64(z));
  return scaled / abs_c64(scaled);
}

fn sqrt_c64(z: vec2<f32>) -> vec2<f32> {
  if (is_zero_c64(z)) {
    return vec2(0f, z.y);
  }
  if (is_infinite_f32(z.y)) {
    return vec2(infinity_f32(), z.y);
  }
  if (is_infinite_f32(z.x)) {
    let other = select(copysign_f32(0f, z.y), z.y, is_nan_f32(z.y));
    return select(vec2(z.x, other), vec2(abs_f32(other), copysign_f32(z.x, z.y)), is_negative_f32(z.x));
  }
  let half = exponent_c64(z) >> 1u;
  let scaled = scale_c64(z, -2 * half);
  let longer = sqrt_f32(0.5f * (abs_f32(scaled.x) + abs_c64(scaled)));
  let shorter = scaled.y / (2f * longer);
  let root = select(vec2(longer, shorter), vec2(abs_f32(shorter), copysign_f32(longer, z.y)), z.x < 0f);
  return scale_c64(root, half);
}

fn rsqrt_c64(z: vec2<f32>) -> vec2<f32> {
  return div_c64(vec2(1f, 0f), sqrt_c64(z));
}

// exp(x) (cos, sin), also if exp(x) alone would overflow.
fn exp_turned(x: f32, direction: vec2<f32>) -> vec2<f32> {
  const kExp40 = 235385266837019985f;
  let is_large = x > 80f;
  let e = exp_f32(select(x, x - 40f, is_large));
  let turned = vec2(part_f32(e, direction.x), part_f32(e, direction.y));
  return select(turned, turned * kExp40, is_large);
}

fn direction_of(angle: f32) -> vec2<f32> {
  return vec2(cos_f32(angle), sin_f32(angle));
}

fn exp_c64(z: vec2<f32>) -> vec2<f32> {
  return exp_turned(z.x, direction_of(z.y));
}

fn exp2_c64(z: vec2<f32>) -> vec2<f32> {
  return exp_c64(z * kLn2);
}

fn expm1_c64(z: vec2<f32>) -> vec2<f32> {
  if (z.x > 80f) {
    return exp_c64(z);
  }
  let half_sine = sin_f32(0.5f * z.y);
  let turn = direction_of(z.y);
  return vec2(expm1_f32(z.x) * turn.x - 2f * half_sine * half_sine, exp_f32(z.x) * turn.y);
}

// log |z|. Near the circle |z| = 1, it is computed from |z|^2 - 1, which is accurate there.
fn log_abs_c64(z: vec2<f32>) -> f32 {
  let n = exponent_c64(z);
  if (n == 0 || n == -1) {
    let x = maximum_f32(abs_f32(z.x), abs_f32(z.y));
    let y = minimum_f32(abs_f32(z.x), abs_f32(z.y));
    if (is_finite_f32(x) && x != 0f) {
      return 0.5f * log1p_f32((x - 1f) * (x + 1f) + y * y);
    }
  }
  let exponent = f32(n);
  return exponent * kLn2High + (log_f32(abs_c64(scale_c64(z, -n))) + exponent * kLn2Low);
}

fn log_c64(z: vec2<f32>) -> vec2<f32> {
  return vec2(log_abs_c64(z), atan2_f32(z.y, z.x));
}

fn log2_c64(z: vec2<f32>) -> vec2<f32> {
  return log_c64(z) * kLog2E;
}

fn log10_c64(z: vec2<f32>) -> vec2<f32> {
  return log_c64(z) * 0.4342944819032518f;
}

fn log1p_c64(z: vec2<f32>) -> vec2<f32> {
  if (abs_f32(z.x) < 0.5f && abs_f32(z.y) < 0.5f) {
    return vec2(0.5f * log1p_f32(z.x * (2f + z.x) + z.y * z.y), atan2_f32(z.y, 1f + z.x));
  }
  return log_c64(vec2(1f + z.x, z.y));
}

// Uses exp with the sign of the argument that does not overflow.
fn sigmoid_c64(z: vec2<f32>) -> vec2<f32> {
  let is_negative = z.x < 0f;
  let e = exp_c64(select(-z, z, is_negative));
  return div_c64(select(vec2(1f, 0f), e, is_negative), vec2(1f, 0f) + e);
}

// Small integral powers are computed as products: exact if their factors are, and 0 at 0.
fn pow_c64(base: vec2<f32>, exponent: vec2<f32>) -> vec2<f32> {
  let n = exponent.x;
  if (exponent.y == 0f && abs_f32(n) <= 8f && n == trunc(n)) {
    var product = vec2(1f, 0f);
    for (var i = 0; i < i32(abs_f32(n)); i++) {
      product = mul_c64(product, base);
    }
    if (n < 0f) {
      return div_c64(vec2(1f, 0f), product);
    }
    return product;
  }
  if (is_zero_c64(base) && n > 0f) {
    return vec2(0f);
  }
  return exp_c64(mul_c64(exponent, log_c64(base)));
}
