// The error function, the gamma function's logarithm, its derivatives and its incomplete forms, Bessel functions.

// erf(x) for |x| <= 1; fitted, relative error 1.3e-9.
fn erf_near_zero_f32(x: f32) -> f32 {
  let z = x * x;
  return x * (1.12837917f + z * (-0.376126258f + z * (0.112835851f + z * (-0.0268538118f + z * (0.00518832743f + z * (-0.000801019139f + z * 7.85385400e-05f))))));
}

// exp(x^2) erfc(x) for 0 <= x <= 10.5; over t it is fitted, relative error 1e-8.
fn erfcx_near_f32(x: f32) -> f32 {
  let t = 1f / (x * 0.4f + 1f);
  var series = -0.0284506852f;
  series = series * t + 0.191816520f;
  series = series * t - 0.484279256f;
  series = series * t + 0.528116263f;
  series = series * t - 0.268357578f;
  series = series * t + 0.263509828f;
  series = series * t + 0.132622789f;
  series = series * t + 0.214292069f;
  series = series * t + 0.225026975f;
  series = series * t + 0.225703083f;
  return t * series;
}

// erfc(|x|).
fn erfc_positive_f32(x: f32) -> f32 {
  let magnitude = select(x, 10.5f, x > 10.5f);
  // The square of half the digits is exact; what it lacks goes into exp separately.
  let high = high_f32(magnitude);
  let correction = -(magnitude - high) * (magnitude + high);
  return exp_of_sum_f32(-high * high, correction) * erfcx_near_f32(magnitude);
}

fn erf_f32(x: f32) -> f32 {
  let magnitude = abs_f32(x);
  if (magnitude < 1f) {
    return erf_near_zero_f32(x);
  }
  return copysign_f32(1f - erfc_positive_f32(magnitude), x);
}

fn erfc_f32(x: f32) -> f32 {
  let magnitude = abs_f32(x);
  if (magnitude < 0.5f) {
    return 1f - erf_near_zero_f32(x);
  }
  let positive = erfc_positive_f32(magnitude);
  return select(positive, 2f - positive, x < 0f);
}

fn erfcx_positive_f32(x: f32) -> f32 {
  if (x < 10.5f) {
    return erfcx_near_f32(x);
  }
  let r = 1f / x;
  let z = r * r;
  return 0.564189584f * r * (1f + z * (-0.5f + z * (0.75f - z * 1.875f)));
}

fn erfcx_f32(x: f32) -> f32 {
  if (is_nan_f32(x)) {
    return x;
  }
  if (x >= 0f) {
    return erfcx_positive_f32(x);
  }
  if (x < -9.4f) {
    return infinity_f32();
  }
  let high = high_f32(x);
  return 2f * exp_of_sum_f32(high * high, (x - high) * (x + high)) - erfcx_positive_f32(-x);
}

// exp(-x) times the modified Bessel function of order 0 or 1, for x >= 0.
fn scaled_bessel_f32(order: f32, x: f32) -> f32 {
  var sum = 1f;
  var term = 1f;
  if (x < 12f) {
    let quarter = x * x * 0.25f;
    for (var k = 1f; term > sum * 1e-8f; k += 1f) {
      term *= quarter / (k * (k + order));
      sum += term;
    }
    return sum * exp_f32(-x) * select(x * 0.5f, 1f, order == 0f);
  }
  let r = 0.125f / x;
  for (var k = 1f; k <= 12f; k += 1f) {
    let odd = 2f * k - 1f;
    term *= (odd * odd - 4f * order) * r / k;
    sum += term;
  }
  return sum * 0.398942280f / sqrt_f32(x);
}

fn i0e_f32(x: f32) -> f32 {
  if (is_nan_f32(x)) {
    return x;
  }
  return scaled_bessel_f32(0f, abs_f32(x));
}

fn i1e_f32(x: f32) -> f32 {
  if (is_nan_f32(x)) {
    return x;
  }
  return copysign_f32(scaled_bessel_f32(1f, abs_f32(x)), x);
}

// erfinv(y) over y, after Giles (2012); w is -log(1 - y^2), u is w - 2.5 below 2.5.
fn erfinv_central_f32(u: f32) -> f32 {
  return 1.50140941f + u * (0.246640727f + u * (-0.00417768164f + u * (-0.00125372503f + u * (0.00021858087f + u * (-4.39150654e-06f + u * (-3.5233877e-06f + u * (3.43273939e-07f + u * 2.81022636e-08f)))))));
}

fn erfinv_f32(y: f32) -> f32 {
  let magnitude = abs_f32(y);
  if (magnitude == 1f) {
    return copysign_f32(infinity_f32(), y);
  }
  if (magnitude > 1f || is_nan_f32(y)) {
    return nan_f32();
  }
  let w = -log_f32((1f - magnitude) * (1f + magnitude));
  if (w < 5f) {
    return y * erfinv_central_f32(w - 2.5f);
  }
  let u = sqrt_f32(w) - 3f;
  return y * (2.83297682f + u * (1.00167406f + u * (0.00943887047f + u * (-0.0076224613f + u * (0.00573950773f + u * (-0.00367342844f + u * (0.00134934322f + u * (0.000100950558f + u * -0.000200214257f))))))));
}

fn ndtri_f32(p: f32) -> f32 {
  if (!(p >= 0f && p <= 1f) || is_nan_f32(p)) {
    return nan_f32();
  }
  let is_left = p < 0.5f;
  let tail = select(1f - p, p, is_left);
  let side = select(1f, -1f, is_left);
  if (tail == 0f) {
    return side * infinity_f32();
  }
  let w = -log_f32(4f * tail * (1f - tail));
  if (w < 5f) {
    return side * 1.41421356f * (1f - 2f * tail) * erfinv_central_f32(w - 2.5f);
  }
  // Newton's iteration for the logarithm of erfc.
  let t = -log_f32(2f * tail);
  var x = sqrt_f32(t - 0.5f * log_f32(kPi * t));
  for (var step = 0; step < 2; step += 1) {
    let scaled = erfcx_positive_f32(x);
    x += (log_f32(scaled) - x * x + t) * scaled * 0.886226925f;
  }
  return side * 1.41421356f * x;
}

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

// digamma of [1, 2] over the distance to its root; fitted, relative error 1e-8.
fn digamma_near_root_f32(x: f32) -> f32 {
  let u = x - 1.5f;
  let slope = 0.951055876f + u * (-0.423627497f + u * (0.240542535f + u * (-0.148398861f + u * (0.0949846851f + u * (-0.0620559804f + u * (0.0408500267f + u * (-0.0257868836f + u * (0.017114989f + u * (-0.0163736203f + u * 0.0109025887f)))))))));
  // The root in two parts; one difference of both would be computed with their sum.
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

// order! q^-(order + 1), factor by factor: neither the factorial nor the power has to be representable.
fn polygamma_term_f32(order: f32, q: f32) -> f32 {
  var term = 1f / q;
  for (var k = 1f; k <= order; k += 1f) {
    term *= k / q;
  }
  return term;
}

// The sum of the terms of q, q + 1, ... for q > 0: some of them, then Euler and Maclaurin's rest.
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
  // The sum over all integers depends on the fractional part alone; take away the terms left of x.
  // A term of an odd power has the sign of its number.
  let side = select(-1f, 1f, is_odd);
  let nearest = polygamma_term_f32(order, abs_f32(rest)) * select(1f, side, rest < 0f);
  let everywhere = nearest + polygamma_sum_f32(order, 1f + rest) + side * polygamma_sum_f32(order, 1f - rest);
  return sign * (everywhere - side * polygamma_sum_f32(order, 1f - x));
}

// The sum of (q + k)^-s over k >= 0 for s > 1 and q > 0: some terms, then Euler and Maclaurin's rest.
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
  // Where q is large the power alone would be zero.
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
  // The sum over all integers depends on the fractional part alone; take away the terms left of q.
  let side = select(1f, -1f, parity == 1u);
  let nearest = pow_f32(abs_f32(rest), -s) * select(1f, side, rest < 0f);
  let everywhere = nearest + zeta_sum_f32(s, 1f + rest) + side * zeta_sum_f32(s, 1f - rest);
  return everywhere - side * zeta_sum_f32(s, 1f - q);
}

// mu - log(1 + mu); `ratio` is 1 + mu.
fn excess_over_log_f32(mu: f32, ratio: f32) -> f32 {
  if (abs_f32(mu) > 0.3f) {
    return mu - log_f32(ratio);
  }
  let r = mu / (2f + mu);
  let z = r * r;
  return r * mu - 2f * r * z * (0.333333333f + z * (0.2f + z * (0.142857143f + z * 0.111111111f)));
}

// exp(-x) x^a / gamma(a + 1) for a < 20.
fn small_gamma_power_f32(a: f32, x: f32) -> f32 {
  if (x > 200f) {
    return 0f;
  }
  let root = pow_f32(x, 0.5f * a) * exp_f32(-0.5f * x);
  return root * root * exp_f32(-lgamma_f32(a + 1f));
}

// Temme's expansion for a >= 20 and x near it, over exp(-a eta^2 / 2): the smaller of both parts.
fn gamma_tail_near_f32(a: f32, eta: f32, is_lower: bool) -> f32 {
  let c0 = -0.333333333f + eta * (0.0833333333f + eta * (-0.0148148148f + eta * (0.00115740741f + eta * (0.000352733686f + eta * (-0.000178755144f + eta * (3.91926318e-05f + eta * -2.18544851e-06f))))));
  let c1 = -0.00185185185f + eta * (-0.00347222222f + eta * (0.0026455026f + eta * (-0.000990226337f + eta * 0.000205761317f)));
  let c2 = 0.0041335979f + eta * (-0.00268132716f + eta * 0.000771604938f);
  let rest = (c0 + (c1 + (c2 + 0.000649434156f / a) / a) / a) * 0.398942280f / sqrt_f32(a);
  return 0.5f * erfcx_positive_f32(abs_f32(eta) * sqrt_f32(0.5f * a)) + select(rest, -rest, is_lower);
}

// The sum of x^n / ((a + 1) ... (a + n)) over n >= 0.
fn lower_gamma_series_f32(a: f32, x: f32) -> f32 {
  var sum = 1f;
  var term = 1f;
  for (var n = 1f; term > sum * 1e-8f; n += 1f) {
    term *= x / (a + n);
    sum += term;
  }
  return sum;
}

// The continued fraction of the upper part, over exp(-x) x^a / gamma(a), by Lentz's method.
fn upper_gamma_fraction_f32(a: f32, x: f32) -> f32 {
  var b = x + 1f - a;
  var c = 1e30f;
  var d = 1f / b;
  var fraction = d;
  for (var n = 1f; n < 200f; n += 1f) {
    let numerator = n * (a - n);
    b += 2f;
    d = 1f / (numerator * d + b);
    c = b + numerator / c;
    fraction *= c * d;
    if (abs_f32(c * d - 1f) < 1e-7f) {
      break;
    }
  }
  return fraction;
}

// The upper part for small a and x.
fn upper_gamma_near_zero_f32(a: f32, x: f32) -> f32 {
  var sum = 0f;
  var power = 1f;
  for (var n = 1f; abs_f32(power) > 1e-9f; n += 1f) {
    power *= -x / n;
    sum += power / (a + n);
  }
  var next = lgamma_near_two_f32(a) - log1p_f32(a);
  if (a >= 0.5f) {
    next = lgamma_f32(1f + a);
  }
  let exponent = a * log_f32(x) - next;
  return -expm1_f32(exponent) - a * exp_f32(exponent) * sum;
}

// The smaller part for a >= 20: the lower one up to x = a.
fn large_gamma_part_f32(a: f32, x: f32) -> f32 {
  let ratio = x / a;
  let is_lower = x <= a;
  if (ratio < 1e-6f || ratio > 100f) {
    return 0f;
  }
  let mu = (x - a) / a;
  let excess = excess_over_log_f32(mu, ratio);
  if (excess > 200f / a) {
    return 0f;
  }
  let scale = exp_f32(-a * excess);
  let size = sqrt_f32(2f * maximum_f32(excess, 0f));
  if (size < 0.4f) {
    return scale * gamma_tail_near_f32(a, select(size, -size, is_lower), is_lower);
  }
  let power = scale * exp_f32((-0.0833333333f + 0.00277777778f / (a * a)) / a) * 0.398942280f / sqrt_f32(a);
  if (is_lower) {
    return power * lower_gamma_series_f32(a, x);
  }
  return power * a * upper_gamma_fraction_f32(a, x);
}

// The regularised incomplete gamma functions: the lower part, or the upper one.
fn gamma_part_f32(a: f32, x: f32, is_upper: bool) -> f32 {
  let is_wrong = is_nan_f32(a) || is_nan_f32(x) || !(a >= 0f && x >= 0f);
  if (is_wrong || (a == 0f && x == 0f) || (is_infinite_f32(a) && is_infinite_f32(x))) {
    return nan_f32();
  }
  if (a == 0f || is_infinite_f32(x)) {
    return select(1f, 0f, is_upper);
  }
  if (x == 0f || is_infinite_f32(a)) {
    return select(0f, 1f, is_upper);
  }
  var part = 0f;
  var has_upper = x > a;
  if (a >= 20f) {
    part = large_gamma_part_f32(a, x);
  } else if (has_upper && x > 1.1f) {
    part = small_gamma_power_f32(a, x) * a * upper_gamma_fraction_f32(a, x);
  } else if (is_upper && x <= 0.5f && -0.4f / log_f32(x) >= a) {
    return upper_gamma_near_zero_f32(a, x);
  } else if (is_upper && x > 0.5f && x <= 1.1f && x * 1.1f >= a) {
    return upper_gamma_near_zero_f32(a, x);
  } else {
    part = small_gamma_power_f32(a, x) * lower_gamma_series_f32(a, x);
    has_upper = false;
  }
  return select(1f - part, part, is_upper == has_upper);
}

fn gammainc_f32(a: f32, x: f32) -> f32 {
  return gamma_part_f32(a, x, false);
}

fn gammaincc_f32(a: f32, x: f32) -> f32 {
  return gamma_part_f32(a, x, true);
}
