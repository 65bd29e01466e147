// The two dtypes of two bytes, in the lower bits of a u32. The bits are computed as integers: WGSL's own conversions may treat
// infinity, NaN and denormal numbers as they like, and numbers that are too large must become infinity. Ties round to even.

fn f32_of_float16(half: u32) -> f32 {
  let fraction = half & 0x3ffu;
  let exponent = half & 0x7c00u;
  let normal = ((half & 0x7fffu) << 13u) + 0x38000000u;
  // The exponent of infinity and NaN is all ones in both types.
  let large = select(normal, kInfinityBits | (fraction << 13u), exponent == 0x7c00u);
  // The fraction of a denormal number counts the smallest one.
  let bits = select(large, bitcast<u32>(f32(fraction) * 0x1p-24f), exponent == 0u);
  return bitcast<f32>(bits | ((half & 0x8000u) << 16u));
}

fn float16_of_f32(x: f32) -> u32 {
  let word = bitcast<u32>(x);
  let magnitude = word & kMagnitudeBits;
  var half = 0x7e00u;
  if (magnitude < 0x38800000u) {
    // Below 2^-14: the fraction counts 2^-24, which is below everything that rounds to zero after 25 shifts.
    let shift = min(126u - (magnitude >> 23u), 25u);
    half = rounded_shift((magnitude & 0x7fffffu) | 0x800000u, shift);
  } else if (magnitude < 0x47800000u) {
    half = rounded_shift(magnitude - 0x38000000u, 13u);
  } else if (magnitude <= kInfinityBits) {
    half = 0x7c00u;
  }
  return half | ((word >> 16u) & 0x8000u);
}

fn f32_of_bfloat16(half: u32) -> f32 {
  return bitcast<f32>(half << 16u);
}

fn bfloat16_of_f32(x: f32) -> u32 {
  let word = bitcast<u32>(x);
  let magnitude = word & kMagnitudeBits;
  let half = select(rounded_shift(magnitude, 16u), 0x7fc0u, magnitude > kInfinityBits);
  return half | ((word >> 16u) & 0x8000u);
}

// x / 2^shift as an integer, for shifts from 1 to 31 and x below 2^31.
fn rounded_shift(x: u32, shift: u32) -> u32 {
  let odd = (x >> shift) & 1u;
  return (x + (1u << (shift - 1u)) - 1u + odd) >> shift;
}
