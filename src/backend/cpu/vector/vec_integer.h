#pragma once

// The words that map integers to integers, on integer vectors.
//
// Nothing here traps or is undefined: results wrap around, and division by zero, which ops reject
// beforehand, yields 0.

#include "backend/cpu/vector/vec.h"
#include "formulas/vocabulary.h"

namespace eg::cpu {

namespace detail {

template <class T>
constexpr T wrapping_negate(T x) {
  return static_cast<T>(UnsignedBits<T>{0} - static_cast<UnsignedBits<T>>(x));
}

template <class T>
constexpr T wrapping_multiply(T a, T b) {
  return static_cast<T>(static_cast<UnsignedBits<T>>(a) * static_cast<UnsignedBits<T>>(b));
}

/// The quotient rounded towards zero.
template <class T>
constexpr T safe_divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return wrapping_negate(a);
  }
  return static_cast<T>(a / b);
}

template <class T>
constexpr T safe_remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

template <class T>
constexpr T integer_power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    // Only 1 and -1 have an integer inverse.
    if (exponent < 0) return base == 1 ? 1 : base != -1 ? 0 : exponent % 2 == 0 ? 1 : -1;
  }
  T result = 1;
  for (; exponent != 0; exponent = static_cast<T>(exponent >> 1)) {
    if ((exponent & 1) != 0) result = wrapping_multiply(result, base);
    base = wrapping_multiply(base, base);
  }
  return result;
}

template <class T>
constexpr int kBits = 8 * static_cast<int>(sizeof(T));

/// Returns 0 if the shift count is negative or not less than the number of bits.
template <class T>
constexpr T shift_left(T x, T count) {
  if (count < 0 || count >= kBits<T>) return 0;
  return static_cast<T>(static_cast<UnsignedBits<T>>(x) << count);
}

/// Returns copies of the sign bit if the shift count is negative or not less than the number of
/// bits.
template <class T>
constexpr T shift_right(T x, T count) {
  constexpr int kMost = kBits<T> - (std::is_signed_v<T> ? 1 : 0);
  if (count >= 0 && count < kMost) return static_cast<T>(x >> count);
  return std::is_signed_v<T> ? static_cast<T>(x >> kMost) : T{0};
}

template <class T>
constexpr T greatest_divisor(T a, T b) {
  while (b != 0) {
    const T rest = safe_remainder(a, b);
    a = b;
    b = rest;
  }
  return a < 0 ? wrapping_negate(a) : a;
}

}  // namespace detail

/// Rounded towards zero.
template <class V>
inline V vec_div(V a, V b) {
  if constexpr (IntegerVec<V>)
    return map_lanes(a, b, detail::safe_divide<Lane<V>>);
  else
    return a / b;
}

template <IntegerVec V>
inline V vec_abs(V x) {
  return x < 0 ? vec_neg(x) : x;
}
template <IntegerVec V>
inline V vec_sign(V x) {
  const V one = splat<Lane<V>>(1);
  return x > 0 ? one : x < 0 ? vec_neg(one) : V{};
}
template <IntegerVec V>
inline V vec_floor(V x) {
  return x;
}
template <IntegerVec V>
inline V vec_ceil(V x) {
  return x;
}
template <IntegerVec V>
inline V vec_round(V x) {
  return x;
}
template <IntegerVec V>
inline V vec_trunc(V x) {
  return x;
}

template <IntegerVec V>
inline V vec_maximum(V a, V b) {
  return a > b ? a : b;
}
template <IntegerVec V>
inline V vec_minimum(V a, V b) {
  return a < b ? a : b;
}
template <IntegerVec V>
inline V vec_fmax(V a, V b) {
  return vec_maximum(a, b);
}
template <IntegerVec V>
inline V vec_fmin(V a, V b) {
  return vec_minimum(a, b);
}

template <IntegerVec V>
inline V vec_copysign(V magnitude, V sign) {
  const V positive = vec_abs(magnitude);
  return sign < 0 ? vec_neg(positive) : positive;
}

template <IntegerVec V>
inline V vec_bitwise_and(V a, V b) {
  return a & b;
}
template <IntegerVec V>
inline V vec_bitwise_or(V a, V b) {
  return a | b;
}
template <IntegerVec V>
inline V vec_bitwise_xor(V a, V b) {
  return a ^ b;
}
template <IntegerVec V>
inline V vec_bitwise_left_shift(V x, V count) {
  return map_lanes(x, count, detail::shift_left<Lane<V>>);
}
template <IntegerVec V>
inline V vec_bitwise_right_shift(V x, V count) {
  return map_lanes(x, count, detail::shift_right<Lane<V>>);
}
template <IntegerVec V>
inline V vec_gcd(V a, V b) {
  return map_lanes(a, b, detail::greatest_divisor<Lane<V>>);
}

// These words treat integers stored as floats as integers.
#define EG_WORD(word)                                                                         \
  template <FloatVec V>                                                                       \
  inline V vec_##word(V a, V b) {                                                             \
    using Whole = Vec<SignedBits<Lane<V>>>;                                                   \
    return __builtin_convertvector(                                                           \
        vec_##word(__builtin_convertvector(a, Whole), __builtin_convertvector(b, Whole)), V); \
  }
EG_INTEGER_WORDS(EG_WORD)
#undef EG_WORD

/// The result has the sign of the dividend, as in C.
template <IntegerVec V>
inline V vec_fmod(V a, V b) {
  return map_lanes(a, b, detail::safe_remainder<Lane<V>>);
}
/// The result has the sign of the divisor, as in Python.
template <IntegerVec V>
inline V vec_remainder(V a, V b) {
  return map_lanes(a, b, [](auto dividend, auto divisor) {
    const auto rest = detail::safe_remainder(dividend, divisor);
    return rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest;
  });
}
template <IntegerVec V>
inline V vec_floor_divide(V a, V b) {
  return map_lanes(a, b, [](auto dividend, auto divisor) {
    const auto quotient = detail::safe_divide(dividend, divisor);
    const auto rest = detail::safe_remainder(dividend, divisor);
    return rest != 0 && (rest < 0) != (divisor < 0) ? quotient - 1 : quotient;
  });
}
template <IntegerVec V>
inline V vec_pow(V base, V exponent) {
  return map_lanes(base, exponent, detail::integer_power<Lane<V>>);
}

}  // namespace eg::cpu
