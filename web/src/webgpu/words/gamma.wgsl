// The logarithm of the gamma function, its derivatives, and the zeta function.

// lgamma(2 + z) for |z| <= 1/2; fitted, relative error 1e-9.
fn lgamma_near_two_f32(z: f32) -> f32 {
  return z * (0.422784335f + z * (0.322467018f + z * (-0.0673522941f + z * (0.0205816254f + z * (-0.00738592088f + z * (0.00287886868f + z * (-0.00118748481f + z * (0.00057025125f + z * -0.000250562021f))))))));
}

fn lgamma_positive_f32(x: f32) -> f32 {
  if (x < 1.5f) {
    let z = x - 1f;
    return lgamma_near_two_f32(z) - log1p_f32(z);
  }
  if (x < 8f) {
    var product = 1f;
    var y = x;
    while (y > 2.5f) {
      y -= 1f;
      product *= y;
    }
    let rest = lgamma_near_two_f32(y - 2f);
    return select(log_f32(product) + rest, rest, product == 1f);
  }
  // Stirling's series.
  let r = 1f / x;
  let z = r * r;
  let series = r * (1f / 12f + z * (-1f / 360f + z * (1f / 1260f)));
  return (x - 0.5f) * (log_f32(x) - 1f) + (0.418938533f + series);
}

fn lgamma_f32(x: f32) -> f32 {
  if (is_nan_f32(x)) {
    return x;
  }
  let magnitude = abs_f32(x);
  if (is_infinite_f32(x) || bitcast<u32>(magnitude) == 0u) {
    return infinity_f32();
  }
  if (magnitude < 0.5f) {
    return lgamma_near_two_f32(x) - log1p_f32(x) - log_f32(magnitude);
  }
  if (x > 0f) {
    return lgamma_positive_f32(x);
  }
  let rest = magnitude - round(magnitude);
  if (rest == 0f) {
    return infinity_f32();
  }
  let sine = abs_f32(sin_f32(kPi * rest));
  return (1.14472989f - log_f32(magnitude * sine)) - lgamma_positive_f32(magnitude);
}

// digamma on [1, 2], divided by the distance to its root; fitted, relative error 1e-8.
fn digamma_near_root_f32(x: f32) -> f32 {
  let u = x - 1.5f;
  let slope = 0.951055876f + u * (-0.423627497f + u * (0.240542535f + u * (-0.148398861f + u * (0.0949846851f + u * (-0.0620559804f + u * (0.0408500267f + u * (-0.0257868836f + u * (0.017114989f + u * (-0.0163736203f + u * 0.0109025887f)))))))));
  // The root has two parts, subtracted in separate products: compilers would merge successive subtractions.
  return (x - 1.4616321f) * slope - 1.24381499e-08f * slope;
}

fn digamma_positive_f32(x: f32) -> f32 {
  if (x < 1f) {
    return digamma_near_root_f32(x + 1f) - 1f / x;
  }
  if (x < 8f) {
    var sum = 0f;
    var y = x;
    while (y > 2f) {
      y -= 1f;
      sum += 1f / y;
    }
    return sum + digamma_near_root_f32(y);
  }
  let r = 1f / x;
  let z = r * r;
  return log_f32(x) - 0.5f * r - z * (1f / 12f + z * (-1f / 120f + z * (1f / 252f)));
}

fn digamma_f32(x: f32) -> f32 {
  if (is_nan_f32(x)) {
    return x;
  }
  if (x == 0f) {
    return copysign_f32(infinity_f32(), -x);
  }
  if (x > 0f) {
    return digamma_positive_f32(x);
  }
  let rest = x - round(x);
  if (rest == 0f || is_infinite_f32(x)) {
    return nan_f32();
  }
  return digamma_positive_f32(1f - x) - kPi / tan_f32(kPi * rest);
}

// order! q^-(order + 1), factor by factor, because the factorial or the power alone may not be representable.
fn polygamma_term_f32(order: f32, q: f32) -> f32 {
  var term = 1f / q;
  for (var k = 1f; k <= order; k += 1f) {
    term *= k / q;
  }
  return term;
}

// The sum of the terms of q, q + 1, ... for q > 0: some terms, then the Euler-Maclaurin remainder.
fn polygamma_sum_f32(order: f32, start: f32) -> f32 {
  let s = order + 1f;
  var q = start;
  var sum = 0f;
  while (q < 10f + s) {
    sum += polygamma_term_f32(order, q);
    q += 1f;
  }
  let term = polygamma_term_f32(order, q);
  let r = 1f / q;
  let z = r * r;
  let third = 3.30687831e-05f - 8.26719577e-07f * (s + 5f) * (s + 6f) * z;
  let second = -0.00138888889f + third * (s + 3f) * (s + 4f) * z;
  let first = 0.0833333333f + second * (s + 1f) * (s + 2f) * z;
  return sum + (polygamma_term_f32(order - 1f, q) + term * (0.5f + first * s * r));
}

fn polygamma_f32(order: f32, x: f32) -> f32 {
  if (order == 0f) {
    return digamma_f32(x);
  }
  if (!(order > 0f && order <= 170f) || order != floor(order) || is_nan_f32(order) || is_nan_f32(x)) {
    return nan_f32();
  }
  let is_odd = (u32(order) & 1u) != 0u;
  let sign = select(-1f, 1f, is_odd);
  if (x > 0f) {
    return select(sign * polygamma_sum_f32(order, x), 0f, is_infinite_f32(x));
  }
  if (is_infinite_f32(x)) {
    return nan_f32();
  }
  let rest = x - round(x);
  if (rest == 0f) {
    return sign * infinity_f32();
  }
  // The sum over all integers depends only on the fractional part; subtract the terms left of x.
  // A term of an odd power has the sign of its argument.
  let side = select(-1f, 1f, is_odd);
  let nearest = polygamma_term_f32(order, abs_f32(rest)) * select(1f, side, rest < 0f);
  let everywhere = nearest + polygamma_sum_f32(order, 1f + rest) + side * polygamma_sum_f32(order, 1f - rest);
  return sign * (everywhere - side * polygamma_sum_f32(order, 1f - x));
}

// The sum of (q + k)^-s over k >= 0 for s > 1 and q > 0: some terms, then the Euler-Maclaurin remainder.
fn zeta_sum_f32(s: f32, start: f32) -> f32 {
  var q = start;
  var sum = 0f;
  while (q < 10f + s) {
    let term = pow_f32(q, -s);
    sum += term;
    if (term <= sum * 1e-9f) {
      return sum;
    }
    q += 1f;
  }
  let power = pow_f32(q, -s);
  let r = 1f / q;
  let z = r * r;
  let third = 3.30687831e-05f - 8.26719577e-07f * (s + 5f) * (s + 6f) * z;
  let second = -0.00138888889f + third * (s + 3f) * (s + 4f) * z;
  let first = 0.0833333333f + second * (s + 1f) * (s + 2f) * z;
  // If q is large, the power alone would underflow to zero.
  return sum + (pow_f32(q, 1f - s) / (s - 1f) + power * (0.5f + first * s * r));
}

fn zeta_f32(s: f32, q: f32) -> f32 {
  if (s == 1f) {
    return infinity_f32();
  }
  if (s < 1f || is_nan_f32(s) || is_nan_f32(q)) {
    return nan_f32();
  }
  if (q > 0f) {
    return select(zeta_sum_f32(s, q), 0f, is_infinite_f32(q));
  }
  let rest = q - round(q);
  if (rest == 0f) {
    return infinity_f32();
  }
  let parity = parity_f32(s);
  if (parity == 0u || is_infinite_f32(q)) {
    return nan_f32();
  }
  // The sum over all integers depends only on the fractional part; subtract the terms left of q.
  let side = select(1f, -1f, parity == 1u);
  let nearest = pow_f32(abs_f32(rest), -s) * select(1f, side, rest < 0f);
  let everywhere = nearest + zeta_sum_f32(s, 1f + rest) + side * zeta_sum_f32(s, 1f - rest);
  return everywhere - side * zeta_sum_f32(s, 1f - q);
}
