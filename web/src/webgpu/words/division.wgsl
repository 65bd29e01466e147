// Remainders of division, and hypot. WGSL's own remainder of floats is a - b trunc(a / b), which is
// wrong if the quotient has more digits than a float.

// The remainder with the sign of a: long division of the mantissas, eight bits at a time. Exact.
fn fmod_f32(a: f32, b: f32) -> f32 {
  let dividend = bitcast<u32>(a) & kMagnitudeBits;
  let divisor = bitcast<u32>(b) & kMagnitudeBits;
  if (dividend >= kInfinityBits || divisor > kInfinityBits || divisor == 0u) {
    return nan_f32();
  }
  if (dividend < divisor) {
    return a;
  }
  // A denormal number has the exponent of the smallest normal number, and no implicit leading bit.
  let exponent = max(divisor >> 23u, 1u);
  let mantissa = (divisor & 0x007fffffu) | select(0u, 0x00800000u, divisor >= 0x00800000u);
  var rest = ((dividend & 0x007fffffu) | select(0u, 0x00800000u, dividend >= 0x00800000u)) % mantissa;
  var bits = max(dividend >> 23u, 1u) - exponent;
  while (bits > 0u && rest != 0u) {
    let step = min(bits, 8u);
    rest = (rest << step) % mantissa;
    bits -= step;
  }
  let sign = bitcast<u32>(a) & kSignBit;
  if (rest == 0u) {
    return bitcast<f32>(sign);
  }
  // Normalise: shift the leading bit to its position, as far as the exponent permits.
  let shift = min(countLeadingZeros(rest) - 8u, exponent - 1u);
  let normal = rest << shift;
  let field = select(0u, (exponent - shift) << 23u, normal >= 0x00800000u);
  return bitcast<f32>(sign | field | (normal & 0x007fffffu));
}

// Whether a remainder is nonzero and has the opposite sign of the divisor.
fn is_on_other_side_f32(rest: f32, divisor: f32) -> bool {
  return (bitcast<u32>(rest) & kMagnitudeBits) != 0u && (is_negative_f32(rest) != is_negative_f32(divisor));
}

fn remainder_f32(a: f32, b: f32) -> f32 {
  let rest = fmod_f32(a, b);
  return select(rest, rest + b, is_on_other_side_f32(rest, b) && !is_nan_f32(rest));
}

fn floor_divide_f32(a: f32, b: f32) -> f32 {
  if ((bitcast<u32>(b) & kMagnitudeBits) == 0u) {
    return a / b;
  }
  let rest = fmod_f32(a, b);
  if (is_nan_f32(rest)) {
    return rest;
  }
  // The dividend is an exact multiple here, so the quotient is within a rounding error of an integer.
  var quotient = round((a - rest) / b);
  if (is_on_other_side_f32(rest, b)) {
    quotient -= 1f;
  }
  let sign = bitcast<f32>((bitcast<u32>(a) ^ bitcast<u32>(b)) & kSignBit);
  return select(quotient, sign, quotient == 0f);
}

fn hypot_f32(a: f32, b: f32) -> f32 {
  let x = abs_f32(a);
  let y = abs_f32(b);
  if (is_infinite_f32(x) || is_infinite_f32(y)) {
    return infinity_f32();
  }
  let longer = maximum_f32(x, y);
  if (longer == 0f) {
    return 0f;
  }
  let ratio = minimum_f32(x, y) / longer;
  return longer * sqrt_f32(1f + ratio * ratio);
}
