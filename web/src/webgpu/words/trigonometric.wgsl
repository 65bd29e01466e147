// Trigonometric functions and their inverses.

const kPi = 3.141592653589793f;
const kHalfPi = 1.5707963267948966f;
const kHalfPiRest = -4.37113900e-08f;

// An angle as rest + quadrant pi/2, |rest| <= pi/4.
struct Angle {
  rest: f32,
  quadrant: u32,
}

// The high and the low word of a product.
fn wide_product(a: u32, b: u32) -> vec2<u32> {
  let a_low = a & 0xffffu;
  let a_high = a >> 16u;
  let b_low = b & 0xffffu;
  let b_high = b >> 16u;
  let low = a_low * b_low;
  let middle = a_high * b_low + (low >> 16u);
  let other = a_low * b_high + (middle & 0xffffu);
  return vec2(a_high * b_high + (middle >> 16u) + (other >> 16u), (other << 16u) | (low & 0xffffu));
}

// Reduces an angle in integer arithmetic, after Payne and Hanek: multiplies the mantissa by the 96 bits of 2/pi that
// determine quadrant and rest. Exact at every magnitude, and compilers cannot reassociate it.
fn reduce_angle(x: f32) -> Angle {
  if (abs_f32(x) < 0.785f) {
    return Angle(x, 0u);
  }
  var two_over_pi = array(0u, 0x28be60dbu, 0x9391054au, 0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u, 0x4f10e410u, 0u);
  let bits = bitcast<u32>(x);
  let mantissa = (bits << 8u) | 0x80000000u;
  let exponent = ((bits >> 23u) & 255u) - 126u;
  // NaN and infinity have exponent 129, for which the table has entries as well.
  let word = exponent >> 5u;
  let shift = exponent & 31u;
  var high = two_over_pi[word];
  var middle = two_over_pi[word + 1u];
  var low = two_over_pi[word + 2u];
  if (shift != 0u) {
    let last = two_over_pi[word + 3u];
    high = (high << shift) | (middle >> (32u - shift));
    middle = (middle << shift) | (low >> (32u - shift));
    low = (low << shift) | (last >> (32u - shift));
  }
  // The two words of the product that contain the angle in units of pi/2: two bits, then the fraction.
  let first = wide_product(mantissa, low).x;
  let second = wide_product(mantissa, middle);
  let bottom = second.y + first;
  let top = second.x + select(0u, 1u, bottom < first) + mantissa * high;
  // Rounded to the nearest quarter turn; the rest is a signed number of 64 bits.
  let turned = top + 0x20000000u;
  var quadrant = turned >> 30u;
  var rest_top = (turned & 0x3fffffffu) - 0x20000000u;
  var rest_bottom = bottom;
  var is_negative = rest_top >= 0x80000000u;
  if (is_negative) {
    rest_bottom = ~rest_bottom + 1u;
    rest_top = ~rest_top + select(0u, 1u, rest_bottom == 0u);
  }
  let zeros = min(countLeadingZeros(rest_top), 31u);
  let digits = (rest_top << zeros) | select(0u, rest_bottom >> (32u - zeros), zeros != 0u);
  var rest = f32(digits) * power_of_two_f32(-30 - i32(zeros)) * kHalfPi;
  if (is_negative_f32(x)) {
    is_negative = !is_negative;
    quadrant = 0u - quadrant;
  }
  return Angle(select(rest, -rest, is_negative), quadrant & 3u);
}

// Sine and cosine on [-pi/4, pi/4].
fn sin_series_f32(r: f32) -> f32 {
  let z = r * r;
  return r + r * z * (-0.166666667f + z * (0.00833332939f + z * (-0.000198393348f + z * 2.71831149e-06f)));
}

fn cos_series_f32(r: f32) -> f32 {
  let z = r * r;
  return 1f + z * (-0.5f + z * (0.0416666232f + z * (-0.00138867638f + z * 2.43904488e-05f)));
}

// sin(x + quarter_turns pi/2).
fn sin_shifted_f32(x: f32, quarter_turns: u32) -> f32 {
  if (!is_finite_f32(x)) {
    return nan_f32();
  }
  let angle = reduce_angle(x);
  let quadrant = angle.quadrant + quarter_turns;
  let value = select(sin_series_f32(angle.rest), cos_series_f32(angle.rest), (quadrant & 1u) != 0u);
  return select(value, -value, (quadrant & 2u) != 0u);
}

fn sin_f32(x: f32) -> f32 {
  return sin_shifted_f32(x, 0u);
}

fn cos_f32(x: f32) -> f32 {
  return sin_shifted_f32(x, 1u);
}

fn tan_f32(x: f32) -> f32 {
  if (!is_finite_f32(x)) {
    return nan_f32();
  }
  let angle = reduce_angle(x);
  let sine = sin_series_f32(angle.rest);
  let cosine = cos_series_f32(angle.rest);
  return select(sine / cosine, -cosine / sine, (angle.quadrant & 1u) != 0u);
}

// asin for |x| <= 1/2; fitted, relative error 1e-9.
fn asin_series_f32(x: f32) -> f32 {
  let z = x * x;
  return x + x * z * (0.166666663f + z * (0.0750009454f + z * (0.0445994015f + z * (0.0311006627f + z * (0.0171492384f + z * 0.0336908472f)))));
}

fn asin_f32(x: f32) -> f32 {
  let magnitude = abs_f32(x);
  if (magnitude <= 0.5f) {
    return asin_series_f32(x);
  }
  return copysign_f32(kHalfPi - 2f * asin_series_f32(sqrt_f32(0.5f * (1f - magnitude))), x);
}

fn acos_f32(x: f32) -> f32 {
  let magnitude = abs_f32(x);
  if (magnitude <= 0.5f) {
    return kHalfPi - (asin_series_f32(x) - kHalfPiRest);
  }
  let angle = 2f * asin_series_f32(sqrt_f32(0.5f * (1f - magnitude)));
  return select(angle, kPi - angle, x < 0f);
}

// atan for 0 <= x <= 1; the series is fitted up to tan(pi/8), relative error 3e-9.
fn atan_of_fraction_f32(x: f32) -> f32 {
  let is_large = x > 0.41421356f;
  let r = select(x, (x - 1f) / (x + 1f), is_large);
  let z = r * r;
  let angle = r + r * z * (-0.333333318f + z * (0.199995405f + z * (-0.142639556f + z * (0.107437315f + z * -0.0645192821f))));
  return select(angle, 0.25f * kPi + angle, is_large);
}

fn atan_f32(x: f32) -> f32 {
  let magnitude = abs_f32(x);
  if (magnitude > 1f) {
    return copysign_f32(kHalfPi - atan_of_fraction_f32(1f / magnitude), x);
  }
  return copysign_f32(atan_of_fraction_f32(magnitude), x);
}

fn atan2_f32(y: f32, x: f32) -> f32 {
  if (is_nan_f32(x) || is_nan_f32(y)) {
    return nan_f32();
  }
  let width = abs_f32(x);
  let height = abs_f32(y);
  let is_steep = height > width;
  let longer = select(width, height, is_steep);
  let shorter = select(height, width, is_steep);
  var ratio = 0f;
  if (is_infinite_f32(shorter)) {
    ratio = 1f;
  } else if (longer != 0f && !is_infinite_f32(longer)) {
    ratio = shorter / longer;
  }
  var angle = atan_of_fraction_f32(ratio);
  angle = select(angle, kHalfPi - angle, is_steep);
  return copysign_f32(select(angle, kPi - angle, is_negative_f32(x)), y);
}
