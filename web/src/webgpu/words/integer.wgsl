// The words for integers. Results wrap around. Division by zero, which ops reject, returns 0.

fn abs_i32(x: i32) -> i32 {
  return abs(x);
}

fn sign_i32(x: i32) -> i32 {
  return sign(x);
}

fn sgn_i32(x: i32) -> i32 {
  return sign(x);
}

fn floor_i32(x: i32) -> i32 {
  return x;
}

fn ceil_i32(x: i32) -> i32 {
  return x;
}

fn round_i32(x: i32) -> i32 {
  return x;
}

fn trunc_i32(x: i32) -> i32 {
  return x;
}

fn copysign_i32(magnitude: i32, sign: i32) -> i32 {
  return select(abs(magnitude), -abs(magnitude), sign < 0);
}

fn bitwise_and_i32(a: i32, b: i32) -> i32 {
  return a & b;
}

fn bitwise_or_i32(a: i32, b: i32) -> i32 {
  return a | b;
}

fn bitwise_xor_i32(a: i32, b: i32) -> i32 {
  return a ^ b;
}

fn bitwise_left_shift_i32(x: i32, places: i32) -> i32 {
  return select(0, x << (u32(places) & 31u), u32(places) < 32u);
}

fn bitwise_right_shift_i32(x: i32, places: i32) -> i32 {
  return x >> min(u32(places), 31u);
}

fn gcd_i32(a: i32, b: i32) -> i32 {
  var divisor = a;
  var rest = b;
  while (rest != 0) {
    let next = fmod_i32(divisor, rest);
    divisor = rest;
    rest = next;
  }
  return abs(divisor);
}

fn maximum_i32(a: i32, b: i32) -> i32 {
  return max(a, b);
}

fn minimum_i32(a: i32, b: i32) -> i32 {
  return min(a, b);
}

fn fmax_i32(a: i32, b: i32) -> i32 {
  return max(a, b);
}

fn fmin_i32(a: i32, b: i32) -> i32 {
  return min(a, b);
}

fn fmod_i32(a: i32, b: i32) -> i32 {
  return select(a % b, 0, b == 0);
}

fn remainder_i32(a: i32, b: i32) -> i32 {
  let rest = fmod_i32(a, b);
  return select(rest, rest + b, rest != 0 && (rest < 0) != (b < 0));
}

fn floor_divide_i32(a: i32, b: i32) -> i32 {
  let rest = fmod_i32(a, b);
  let quotient = select(a / b, 0, b == 0);
  return select(quotient, quotient - 1, rest != 0 && (rest < 0) != (b < 0));
}

fn pow_i32(base: i32, exponent: i32) -> i32 {
  if (exponent < 0) {
    // The only integers with an integral inverse are 1 and -1.
    let is_unit = abs(base) == 1;
    return select(0, select(1, base, (exponent & 1) != 0), is_unit);
  }
  var result = 1;
  var factor = base;
  for (var rest = exponent; rest != 0; rest >>= 1u) {
    result *= select(1, factor, (rest & 1) != 0);
    factor *= factor;
  }
  return result;
}

fn abs_u8(x: u32) -> u32 {
  return x;
}

fn sign_u8(x: u32) -> u32 {
  return min(x, 1u);
}

fn sgn_u8(x: u32) -> u32 {
  return min(x, 1u);
}

fn floor_u8(x: u32) -> u32 {
  return x;
}

fn ceil_u8(x: u32) -> u32 {
  return x;
}

fn round_u8(x: u32) -> u32 {
  return x;
}

fn trunc_u8(x: u32) -> u32 {
  return x;
}

fn copysign_u8(magnitude: u32, sign: u32) -> u32 {
  return magnitude;
}

fn bitwise_and_u8(a: u32, b: u32) -> u32 {
  return a & b;
}

fn bitwise_or_u8(a: u32, b: u32) -> u32 {
  return a | b;
}

fn bitwise_xor_u8(a: u32, b: u32) -> u32 {
  return a ^ b;
}

fn bitwise_left_shift_u8(x: u32, places: u32) -> u32 {
  return (x << min(places, 8u)) & 255u;
}

fn bitwise_right_shift_u8(x: u32, places: u32) -> u32 {
  return x >> min(places, 8u);
}

fn gcd_u8(a: u32, b: u32) -> u32 {
  var divisor = a;
  var rest = b;
  while (rest != 0u) {
    let next = divisor % rest;
    divisor = rest;
    rest = next;
  }
  return divisor;
}

fn maximum_u8(a: u32, b: u32) -> u32 {
  return max(a, b);
}

fn minimum_u8(a: u32, b: u32) -> u32 {
  return min(a, b);
}

fn fmax_u8(a: u32, b: u32) -> u32 {
  return max(a, b);
}

fn fmin_u8(a: u32, b: u32) -> u32 {
  return min(a, b);
}

fn fmod_u8(a: u32, b: u32) -> u32 {
  return select(a % b, 0u, b == 0u);
}

fn remainder_u8(a: u32, b: u32) -> u32 {
  return fmod_u8(a, b);
}

fn floor_divide_u8(a: u32, b: u32) -> u32 {
  return select(a / b, 0u, b == 0u);
}

fn pow_u8(base: u32, exponent: u32) -> u32 {
  var result = 1u;
  var factor = base;
  for (var rest = exponent; rest != 0u; rest >>= 1u) {
    result = (result * select(1u, factor, (rest & 1u) != 0u)) & 255u;
    factor = (factor * factor) & 255u;
  }
  return result;
}

// Rounds towards zero; 0 for values that do not fit int32.
fn int_of_f32(x: f32) -> i32 {
  let fits = abs_f32(x) < 0x1p31f;
  return select(select(0, -2147483647 - 1, x == -0x1p31f), i32(x), fits);
}
