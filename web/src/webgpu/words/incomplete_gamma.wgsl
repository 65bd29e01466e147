// The incomplete gamma functions.

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

// Temme's expansion for a >= 20 and x near a, divided by exp(-a eta^2 / 2): the smaller of the two parts.
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

// The continued fraction of the upper part, divided by exp(-x) x^a / gamma(a), with Lentz's method.
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

// The smaller part for a >= 20: the lower part if x <= a, otherwise the upper part.
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

// The regularised incomplete gamma functions: the lower or the upper part.
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
