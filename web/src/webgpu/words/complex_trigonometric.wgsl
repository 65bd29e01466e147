// Trigonometric and hyperbolic functions of complex numbers, and their inverses. Functions that differ only by a quarter
// turn of argument and result share one implementation. The inverses are Kahan's: they use the square roots of 1 - z and
// 1 + z, which stay accurate near a branch point and preserve the signs of zeros along a cut. Far away, where computing
// with these roots would overflow, the inverses use logarithms.

const kFar = 10000f;

fn is_far_c64(z: vec2<f32>) -> bool {
  return abs_f32(z.x) > kFar || abs_f32(z.y) > kFar;
}

// i z and -i z.
fn turn_left(z: vec2<f32>) -> vec2<f32> {
  return vec2(-z.y, z.x);
}

fn turn_right(z: vec2<f32>) -> vec2<f32> {
  return vec2(z.y, -z.x);
}

fn sinh_c64(z: vec2<f32>) -> vec2<f32> {
  let turn = direction_of(z.y);
  let x = abs_f32(z.x);
  if (x > 80f) {
    let large = exp_turned(x, 0.5f * turn);
    return vec2(select(large.x, -large.x, z.x < 0f), large.y);
  }
  return vec2(part_f32(turn.x, sinh_f32(z.x)), cosh_f32(z.x) * turn.y);
}

fn cosh_c64(z: vec2<f32>) -> vec2<f32> {
  let turn = direction_of(z.y);
  let x = abs_f32(z.x);
  if (x > 80f) {
    let large = exp_turned(x, 0.5f * turn);
    return vec2(large.x, select(large.y, -large.y, z.x < 0f));
  }
  return vec2(cosh_f32(z.x) * turn.x, part_f32(turn.y, sinh_f32(z.x)));
}

fn tanh_c64(z: vec2<f32>) -> vec2<f32> {
  let turn = direction_of(z.y);
  let x = abs_f32(z.x);
  if (x > 20f) {
    let e = exp_f32(-x);
    let rest = select(4f * turn.x * turn.y * e * e, 0f, is_infinite_f32(x) && !is_finite_f32(z.y));
    return vec2(copysign_f32(1f, z.x), rest);
  }
  let sine = sinh_f32(z.x);
  let numerator = vec2(sine * cosh_f32(z.x), turn.x * turn.y);
  return numerator / (sine * sine + turn.x * turn.x);
}

fn sin_c64(z: vec2<f32>) -> vec2<f32> {
  return turn_right(sinh_c64(turn_left(z)));
}

fn cos_c64(z: vec2<f32>) -> vec2<f32> {
  return cosh_c64(turn_left(z));
}

fn tan_c64(z: vec2<f32>) -> vec2<f32> {
  return turn_right(tanh_c64(turn_left(z)));
}

// The square roots of 1 - z and 1 + z.
struct Roots {
  below: vec2<f32>,
  above: vec2<f32>,
}

fn roots_beside_one(z: vec2<f32>) -> Roots {
  return Roots(sqrt_c64(vec2(1f - z.x, -z.y)), sqrt_c64(vec2(1f + z.x, z.y)));
}

// The imaginary part of conj(a) b.
fn cross_c64(a: vec2<f32>, b: vec2<f32>) -> f32 {
  return a.x * b.y - a.y * b.x;
}

fn asin_c64(z: vec2<f32>) -> vec2<f32> {
  if (is_far_c64(z)) {
    return vec2(atan2_f32(z.x, abs_f32(z.y)), copysign_f32(log_abs_c64(z) + kLn2, z.y));
  }
  let roots = roots_beside_one(z);
  return vec2(atan2_f32(z.x, mul_c64(roots.below, roots.above).x), asinh_f32(cross_c64(roots.below, roots.above)));
}

fn acos_c64(z: vec2<f32>) -> vec2<f32> {
  if (is_far_c64(z)) {
    return vec2(atan2_f32(abs_f32(z.y), z.x), copysign_f32(log_abs_c64(z) + kLn2, -z.y));
  }
  let roots = roots_beside_one(z);
  return vec2(2f * atan2_f32(roots.below.x, roots.above.x), asinh_f32(cross_c64(roots.above, roots.below)));
}

// acos, rotated into the right half-plane.
fn acosh_c64(z: vec2<f32>) -> vec2<f32> {
  let w = acos_c64(z);
  return vec2(abs_f32(w.y), copysign_f32(w.x, z.y));
}

fn asinh_c64(z: vec2<f32>) -> vec2<f32> {
  return turn_right(asin_c64(turn_left(z)));
}

fn atanh_c64(z: vec2<f32>) -> vec2<f32> {
  if (is_far_c64(z)) {
    let angle = copysign_f32(kHalfPi, z.y);
    let inverse = div_c64(vec2(1f, 0f), z);
    let is_infinite = is_infinite_f32(z.x) || is_infinite_f32(z.y);
    return select(vec2(inverse.x, inverse.y + angle), vec2(copysign_f32(0f, z.x), angle), is_infinite);
  }
  let x = abs_f32(z.x);
  let distance = hypot_f32(1f - x, z.y);
  var stretch = 0.25f * log1p_f32(4f * x / (distance * distance));
  if (distance < 0.0001f) {
    stretch = 0.5f * log_f32(2f / distance);
  }
  return vec2(copysign_f32(stretch, z.x), 0.5f * atan2_f32(2f * z.y, (1f - x) * (1f + x) - z.y * z.y));
}

fn atan_c64(z: vec2<f32>) -> vec2<f32> {
  return turn_right(atanh_c64(turn_left(z)));
}
