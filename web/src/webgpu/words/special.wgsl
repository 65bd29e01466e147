// The error function, related functions, and Bessel functions.

// erf(x) for |x| <= 1; fitted, relative error 1.3e-9.
fn erf_near_zero_f32(x: f32) -> f32 {
  let z = x * x;
  return x * (1.12837917f + z * (-0.376126258f + z * (0.112835851f + z * (-0.0268538118f + z * (0.00518832743f + z * (-0.000801019139f + z * 7.85385400e-05f))))));
}

// exp(x^2) erfc(x) for 0 <= x <= 10.5; its quotient by t is fitted, relative error 1e-8.
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
  // The square of the leading digits is exact; the rest of the square is passed to exp as a correction.
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

// erfinv(y) / y, after Giles (2012); w is -log(1 - y^2), and u is w - 2.5 for w < 2.5.
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
