// The words for 64-bit integers in two's complement: the low word, then the high one. Results wrap around. Division by
// zero, which ops reject, returns 0.

fn equal_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return all(a == b);
}

fn differ_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return any(a != b);
}

fn less_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return select(bitcast<i32>(a.y) < bitcast<i32>(b.y), a.x < b.x, a.y == b.y);
}

fn less_equal_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return !less_i64(b, a);
}

fn greater_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return less_i64(b, a);
}

fn greater_equal_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return !less_i64(a, b);
}

fn is_negative_i64(x: vec2<u32>) -> bool {
  return x.y >= 0x80000000u;
}

fn add_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn sub_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn neg_i64(x: vec2<u32>) -> vec2<u32> {
  return sub_i64(vec2(0u, 0u), x);
}

fn mul_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let product = wide_product(a.x, b.x);
  return vec2(product.y, product.x + a.x * b.y + a.y * b.x);
}

fn abs_i64(x: vec2<u32>) -> vec2<u32> {
  return select(x, neg_i64(x), is_negative_i64(x));
}

fn sign_i64(x: vec2<u32>) -> vec2<u32> {
  let positive = vec2(select(0u, 1u, any(x != vec2(0u, 0u))), 0u);
  return select(positive, vec2(0xffffffffu, 0xffffffffu), is_negative_i64(x));
}

fn sgn_i64(x: vec2<u32>) -> vec2<u32> {
  return sign_i64(x);
}

fn floor_i64(x: vec2<u32>) -> vec2<u32> {
  return x;
}

fn ceil_i64(x: vec2<u32>) -> vec2<u32> {
  return x;
}

fn round_i64(x: vec2<u32>) -> vec2<u32> {
  return x;
}

fn trunc_i64(x: vec2<u32>) -> vec2<u32> {
  return x;
}

fn copysign_i64(magnitude: vec2<u32>, sign: vec2<u32>) -> vec2<u32> {
  let positive = abs_i64(magnitude);
  return select(positive, neg_i64(positive), is_negative_i64(sign));
}

fn bitwise_and_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return a & b;
}

fn bitwise_or_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return a | b;
}

fn bitwise_xor_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return a ^ b;
}

// Shifts by fewer than 64 places; zeros are shifted in.
fn shifted_left_64(x: vec2<u32>, places: u32) -> vec2<u32> {
  if (places >= 32u) {
    return vec2(0u, x.x << (places - 32u));
  }
  // A word cannot be shifted by 32 places.
  return vec2(x.x << places, (x.y << places) | ((x.x >> 1u) >> (31u - places)));
}

fn shifted_right_64(x: vec2<u32>, places: u32) -> vec2<u32> {
  if (places >= 32u) {
    return vec2(x.y >> (places - 32u), 0u);
  }
  return vec2((x.x >> places) | ((x.y << 1u) << (31u - places)), x.y >> places);
}

fn bitwise_left_shift_i64(x: vec2<u32>, places: vec2<u32>) -> vec2<u32> {
  let fits = places.y == 0u && places.x < 64u;
  return select(vec2(0u, 0u), shifted_left_64(x, places.x & 63u), fits);
}

fn bitwise_right_shift_i64(x: vec2<u32>, places: vec2<u32>) -> vec2<u32> {
  let sign = select(0u, 0xffffffffu, is_negative_i64(x));
  let signs = vec2(sign, sign);
  let fits = places.y == 0u && places.x < 64u;
  // The complement of a negative number is shifted, so that ones are shifted in.
  return select(signs, shifted_right_64(x ^ signs, places.x & 63u) ^ signs, fits);
}

// The position of the highest bit that is set, counted from 1; 0 for zero.
fn bit_length_64(x: vec2<u32>) -> u32 {
  return select(32u - countLeadingZeros(x.x), 64u - countLeadingZeros(x.y), x.y != 0u);
}

// The quotient and the remainder of magnitudes up to 2^63, bit by bit unless both fit a word.
fn quotient_and_rest_64(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
  if (all(b == vec2(0u, 0u))) {
    return vec4(0u, 0u, 0u, 0u);
  }
  if (a.y == 0u && b.y == 0u) {
    return vec4(a.x / b.x, 0u, a.x % b.x, 0u);
  }
  var quotient = vec2(0u, 0u);
  var rest = vec2(0u, 0u);
  for (var place = bit_length_64(a); place > 0u; place--) {
    let bit = shifted_right_64(a, place - 1u).x & 1u;
    rest = shifted_left_64(rest, 1u) | vec2(bit, 0u);
    quotient = shifted_left_64(quotient, 1u);
    // Neither is above 2^64 - 1.
    if (rest.y > b.y || (rest.y == b.y && rest.x >= b.x)) {
      rest = sub_i64(rest, b);
      quotient.x |= 1u;
    }
  }
  return vec4(quotient, rest);
}

fn div_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let quotient = quotient_and_rest_64(abs_i64(a), abs_i64(b)).xy;
  return select(quotient, neg_i64(quotient), is_negative_i64(a) != is_negative_i64(b));
}

fn fmod_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let rest = quotient_and_rest_64(abs_i64(a), abs_i64(b)).zw;
  return select(rest, neg_i64(rest), is_negative_i64(a));
}

fn remainder_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let rest = fmod_i64(a, b);
  let differs = any(rest != vec2(0u, 0u)) && is_negative_i64(rest) != is_negative_i64(b);
  return select(rest, add_i64(rest, b), differs);
}

fn floor_divide_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let parts = quotient_and_rest_64(abs_i64(a), abs_i64(b));
  if (is_negative_i64(a) == is_negative_i64(b)) {
    return parts.xy;
  }
  let rounds = any(parts.zw != vec2(0u, 0u));
  return neg_i64(add_i64(parts.xy, vec2(select(0u, 1u, rounds), 0u)));
}

fn gcd_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  var divisor = abs_i64(a);
  var rest = abs_i64(b);
  while (any(rest != vec2(0u, 0u))) {
    let next = quotient_and_rest_64(divisor, rest).zw;
    divisor = rest;
    rest = next;
  }
  return divisor;
}

fn maximum_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, less_i64(a, b));
}

fn minimum_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return select(a, b, less_i64(b, a));
}

fn fmax_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return maximum_i64(a, b);
}

fn fmin_i64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return minimum_i64(a, b);
}

fn pow_i64(base: vec2<u32>, exponent: vec2<u32>) -> vec2<u32> {
  let one = vec2(1u, 0u);
  if (is_negative_i64(exponent)) {
    // The only integers with an integral inverse are 1 and -1.
    let is_unit = all(abs_i64(base) == one);
    return select(vec2(0u, 0u), select(one, base, (exponent.x & 1u) != 0u), is_unit);
  }
  var result = one;
  var factor = base;
  for (var rest = exponent; any(rest != vec2(0u, 0u)); rest = shifted_right_64(rest, 1u)) {
    result = mul_i64(result, select(one, factor, (rest.x & 1u) != 0u));
    factor = mul_i64(factor, factor);
  }
  return result;
}

fn i64_of_i32(x: i32) -> vec2<u32> {
  return vec2(bitcast<u32>(x), bitcast<u32>(x >> 31u));
}

// Rounds towards zero; 0 for values that do not fit.
fn i64_of_f32(x: f32) -> vec2<u32> {
  let bits = bitcast<u32>(x);
  let exponent = (bits >> 23u) & 255u;
  let is_negative = bits >= 0x80000000u;
  let is_least = bits == 0xdf000000u;
  if (exponent < 127u || (exponent >= 190u && !is_least)) {
    return vec2(0u, 0u);
  }
  let digits = vec2((bits & 0x7fffffu) | 0x800000u, 0u);
  var magnitude = digits;
  if (exponent < 150u) {
    magnitude = shifted_right_64(digits, 150u - exponent);
  } else {
    magnitude = shifted_left_64(digits, exponent - 150u);
  }
  return select(magnitude, neg_i64(magnitude), is_negative);
}

// Rounds to the nearest number, and to an even one in the middle of two.
fn f32_of_i64(x: vec2<u32>) -> f32 {
  let magnitude = abs_i64(x);
  let length = bit_length_64(magnitude);
  var value = f32(magnitude.x);
  if (length > 24u) {
    let places = length - 24u;
    let digits = shifted_right_64(magnitude, places).x;
    let rest = sub_i64(magnitude, shifted_left_64(vec2(digits, 0u), places));
    let half = shifted_left_64(vec2(1u, 0u), places - 1u);
    let is_odd = (digits & 1u) != 0u;
    let rounds = less_i64(half, rest) || (all(rest == half) && is_odd);
    value = f32(digits + select(0u, 1u, rounds)) * bitcast<f32>((127u + places) << 23u);
  }
  return select(value, -value, is_negative_i64(x));
}

// An index into memory, which is always below 2^31; -1 if there can be no such element.
fn index_of_i64(x: vec2<u32>) -> i32 {
  return select(-1, bitcast<i32>(x.x), x.y == 0u && x.x < 0x80000000u);
}
