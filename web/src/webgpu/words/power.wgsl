// pow, computed as 2^(exponent log2 base). The logarithm has two parts, because the exponent multiplies its
// error.

const kHighHalf = 0xfffff000u;

// The leading twelve bits of a number. The product of two such numbers is exact.
fn high_f32(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) & kHighHalf);
}

// log2 of a positive finite number, in two parts; the first part has twelve bits.
fn log2_parts_f32(x: f32) -> vec2<f32> {
  const kLog2EHigh = 0x1.714p0f;
  const kLog2ELow = 0.000312228389f;
  let parts = parts_f32(x);
  let f = parts.mantissa - 1f;
  let s = f / (f + 2f);
  let z = s * s;
  let series = z * (2f / 3f + z * (2f / 5f + z * (2f / 7f + z * (2f / 9f))));
  // log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + series), as in log1p_series_f32.
  let f_high = high_f32(f);
  let square_high = 0.5f * f_high * f_high;
  let square_low = 0.5f * (f - f_high) * (f + f_high);
  let tail = s * (square_high + square_low + series) - square_low;
  let log_high = high_f32(f - square_high);
  let log_low = ((f - log_high) - square_high) + tail;
  let high = log_high * kLog2EHigh;
  let low = log_high * kLog2ELow + log_low * (kLog2EHigh + kLog2ELow);
  let sum = high_f32(parts.exponent + (high + low));
  return vec2(sum, ((parts.exponent - sum) + high) + low);
}

// For a positive finite base.
fn positive_power_f32(base: f32, exponent: f32) -> f32 {
  // For larger exponents, all powers are 0, 1 or infinite.
  let y = limit_f32(exponent, -0x1p40f, 0x1p40f);
  let log2_base = log2_parts_f32(base);
  let y_high = high_f32(y);
  let high = y_high * log2_base.x;
  let low = (y - y_high) * log2_base.x + y * log2_base.y;
  let sum = high + low;
  if (sum > 130f) {
    return infinity_f32();
  }
  if (sum < -152f) {
    return 0f;
  }
  let n = round(sum);
  return scale_f32(expm1_series_f32(((high - n) + low) * kLn2) + 1f, i32(n));
}

// Returns 0 if x is not an integer, 1 if it is odd, 2 if it is even.
fn parity_f32(x: f32) -> u32 {
  let magnitude = abs_f32(x);
  if (magnitude >= 0x1p24f) {
    return 2u;
  }
  if (trunc(magnitude) != magnitude) {
    return 0u;
  }
  return 2u - (u32(magnitude) & 1u);
}

fn pow_f32(base: f32, exponent: f32) -> f32 {
  // Common exponents.
  if (exponent == 2f) {
    return base * base;
  }
  if (exponent == 1f) {
    return base;
  }
  if (exponent == 3f) {
    return base * base * base;
  }
  if (exponent == -1f) {
    return 1f / base;
  }
  let exponent_bits = bitcast<u32>(exponent) & kMagnitudeBits;
  if (exponent_bits == 0u || bitcast<u32>(base) == 0x3f800000u) {
    return 1f;
  }
  if (is_nan_f32(base) || is_nan_f32(exponent)) {
    return nan_f32();
  }
  let magnitude = abs_f32(base);
  let magnitude_bits = bitcast<u32>(magnitude);
  let grows = (magnitude_bits > 0x3f800000u) != is_negative_f32(exponent);
  if (exponent_bits == kInfinityBits) {
    return select(select(0f, infinity_f32(), grows), 1f, magnitude_bits == 0x3f800000u);
  }
  let parity = parity_f32(exponent);
  let sign = select(1f, base, parity == 1u);
  if (magnitude_bits == 0u || magnitude_bits == kInfinityBits) {
    return copysign_f32(select(0f, infinity_f32(), grows), sign);
  }
  if (is_negative_f32(base) && parity == 0u) {
    return nan_f32();
  }
  return copysign_f32(positive_power_f32(magnitude, exponent), sign);
}
