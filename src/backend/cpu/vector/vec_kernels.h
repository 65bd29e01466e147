#pragma once

// Exponential and logarithm as building blocks, for the files that make words of them.
//
// One text serves both types: arguments are reduced exactly, then a Taylor series runs as far as
// the type can tell. Constants that depend on the type are in Format.

#include <array>
#include <cstddef>

#include "backend/cpu/vector/vec.h"

namespace eg::cpu::detail {

template <class T>
struct Format;

template <>
struct Format<float> {
  static constexpr int kMantissaBits = 23;
  static constexpr int kBias = 127;
  /// Adding it rounds to an integer and leaves that integer in the low bits.
  static constexpr float kRounder = 0x1.8p23F;
  /// ln 2 in two parts; an exponent times the first is exact.
  static constexpr float kLn2High = 0x1.63p-1F;
  static constexpr float kLn2Low = -0x1.bd0106p-13F;
  /// exp is 0 below and infinite above.
  static constexpr float kExpLow = -104.0F;
  static constexpr float kExpHigh = 89.0F;
  static constexpr float kDenormalScale = 0x1p24F;
  static constexpr int kDenormalBits = 24;
  static constexpr std::size_t kExpTerms = 7;
  static constexpr std::size_t kLogTerms = 4;
};

template <>
struct Format<double> {
  static constexpr int kMantissaBits = 52;
  static constexpr int kBias = 1023;
  static constexpr double kRounder = 0x1.8p52;
  static constexpr double kLn2High = 0x1.62e42feep-1;
  static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  static constexpr double kExpLow = -746.0;
  static constexpr double kExpHigh = 710.0;
  static constexpr double kDenormalScale = 0x1p54;
  static constexpr int kDenormalBits = 54;
  static constexpr std::size_t kExpTerms = 13;
  static constexpr std::size_t kLogTerms = 10;
};

template <class T>
using BitVec = Vec<UnsignedBits<T>>;

/// A number rounded to an integer, as a number and as bits.
template <class T>
struct Rounded {
  Vec<T> value;
  BitVec<T> bits;
};

/// Rounds |x| < 2^22 (2^51 in double) to even.
template <class T>
inline Rounded<T> round_to_bits(Vec<T> x) {
  const Vec<T> shifted = x + Format<T>::kRounder;
  return {shifted - Format<T>::kRounder, bits_of(shifted) - bits_of(splat(Format<T>::kRounder))};
}

/// 2^n for exponents of normal numbers.
template <class T>
inline Vec<T> power_of_two(BitVec<T> n) {
  return from_bits<T>((n + UnsignedBits<T>{Format<T>::kBias}) << Format<T>::kMantissaBits);
}

/// y 2^n; in two factors, so that results are rounded once where they become denormal or infinite.
template <class T>
inline Vec<T> scale(Vec<T> y, BitVec<T> n) {
  constexpr UnsignedBits<T> kOffset = 4096;
  const BitVec<T> half = ((n + kOffset) >> 1) - kOffset / 2;
  return y * power_of_two<T>(half) * power_of_two<T>(n - half);
}

/// exp(r) - 1 for |r| <= 0.4.
template <class T>
inline Vec<T> expm1_series(Vec<T> r) {
  constexpr auto kInverseFactorial = [] {
    std::array<T, Format<T>::kExpTerms + 1> table{};
    double value = 1;
    for (std::size_t k = 0; k < table.size(); ++k) {
      if (k > 0) value /= static_cast<double>(k);
      table[k] = static_cast<T>(value);
    }
    return table;
  }();
  Vec<T> tail = splat(kInverseFactorial.back());
  for (std::size_t k = kInverseFactorial.size() - 1; k-- > 2;)
    tail = tail * r + kInverseFactorial[k];
  return r + r * r * tail;
}

template <class T>
inline Vec<T> clamp_lanes(Vec<T> x, T low, T high) {
  // The comparisons are false for NaN, which therefore passes.
  x = x < low ? splat(low) : x;
  return x > high ? splat(high) : x;
}

/// x = n ln 2 + rest.
template <class T>
struct ExpReduction {
  Rounded<T> n;
  Vec<T> rest;
};

template <class T>
inline ExpReduction<T> reduce_exp(Vec<T> x) {
  constexpr T kLog2E = static_cast<T>(1.4426950408889634074);
  const Rounded<T> n = round_to_bits<T>(x * kLog2E);
  return {n, (x - n.value * Format<T>::kLn2High) - n.value * Format<T>::kLn2Low};
}

/// exp(x + correction), where the correction is what x could not hold: |correction| < 0.05.
template <class T>
inline Vec<T> exp_of_sum(Vec<T> x, Vec<T> correction) {
  // Zeros are chosen, not computed: processors take a hundred cycles over a product that
  // underflows, and masks make rows of -infinity.
  const auto is_zero = x < Format<T>::kExpLow;
  x = is_zero ? Vec<T>{} : x;
  const auto [n, rest] = reduce_exp<T>(x > Format<T>::kExpHigh ? splat(Format<T>::kExpHigh) : x);
  const Vec<T> result = scale<T>(expm1_series<T>(rest + correction) + 1, n.bits);
  return is_zero ? Vec<T>{} : result;
}

/// exp(x) of x <= 0, where results below the smallest normal number are zero.
template <class T>
inline Vec<T> exp_of_negative(Vec<T> x) {
  // The power of two of the least exponent, all of whose bits are zero, is zero.
  constexpr T kLow = -Format<T>::kBias * static_cast<T>(0.69314718055994530942);
  const auto [n, rest] = reduce_exp<T>(x < kLow ? splat(kLow) : x);
  return (expm1_series<T>(rest) + 1) * power_of_two<T>(n.bits);
}

template <class T>
inline Vec<T> exp_of(Vec<T> x) {
  return exp_of_sum<T>(x, Vec<T>{});
}

template <class T>
inline Vec<T> expm1_of(Vec<T> x) {
  constexpr T kIsMinusOne = -50;
  const auto [n, rest] = reduce_exp<T>(clamp_lanes<T>(x, kIsMinusOne, Format<T>::kExpHigh));
  const Vec<T> series = expm1_series<T>(rest);
  // Halved, because 2^n is not representable at the upper end.
  const Vec<T> half = power_of_two<T>(n.bits - UnsignedBits<T>{1});
  const Vec<T> scaled = (series * half + (half - T{0.5})) * T{2};
  return n.value == 0 ? series : scaled;
}

/// log(x) = exponent ln 2 + fraction for positive finite x; sqrt(1/2) <= the mantissa < sqrt(2).
template <class T>
struct LogParts {
  Vec<T> exponent;
  Vec<T> fraction;
};

/// log(1 + f) for sqrt(1/2) <= 1 + f < sqrt(2): twice the series of artanh(f / (2 + f)).
template <class T>
inline Vec<T> log1p_series(Vec<T> f) {
  const Vec<T> s = f / (f + 2);
  const Vec<T> z = s * s;
  Vec<T> series{};
  for (std::size_t k = Format<T>::kLogTerms; k > 0; --k) {
    series = (series + static_cast<T>(2.0 / (2.0 * static_cast<double>(k) + 1))) * z;
  }
  // Arranged so that f itself, the leading term, is not rounded.
  const Vec<T> half_square = f * f * T{0.5};
  return f - (half_square - s * (half_square + series));
}

template <class T>
inline LogParts<T> log_parts(Vec<T> x) {
  constexpr int kBits = Format<T>::kMantissaBits;
  constexpr UnsignedBits<T> kOne = 1;
  // Added to the exponent, so that it stays positive under an unsigned shift.
  constexpr UnsignedBits<T> kOffset = kOne << (sizeof(T) * 8 - 2);
  const BitVec<T> sqrt_half = bits_of(splat(static_cast<T>(0.70710678118654752440)));
  const MaskBits<T> denormal = x < std::numeric_limits<T>::min();
  const BitVec<T> bits =
      bits_of(denormal ? x * Format<T>::kDenormalScale : x) - sqrt_half + kOffset;
  const BitVec<T> rounder = bits_of(splat(Format<T>::kRounder));
  constexpr T kExponentOffset = static_cast<T>(kOffset >> kBits);
  Vec<T> exponent =
      from_bits<T>((bits >> kBits) + rounder) - (Format<T>::kRounder + kExponentOffset);
  exponent = denormal ? exponent - T{Format<T>::kDenormalBits} : exponent;
  const Vec<T> mantissa = from_bits<T>((bits & ((kOne << kBits) - 1)) + sqrt_half);
  return {exponent, log1p_series<T>(mantissa - 1)};
}

/// A logarithm's values at zero, below, at infinity and NaN.
template <class T>
inline Vec<T> log_limits(Vec<T> x, Vec<T> inside) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const Vec<T> finite = x > 0 ? inside : splat(std::numeric_limits<T>::quiet_NaN());
  const Vec<T> from_zero = x == 0 ? splat(-kInfinity) : finite;
  return x == kInfinity ? x : from_zero;
}

template <class T>
inline Vec<T> log_of(Vec<T> x) {
  const auto [exponent, fraction] = log_parts<T>(x);
  return log_limits<T>(x,
                       exponent * Format<T>::kLn2High + (fraction + exponent * Format<T>::kLn2Low));
}

}  // namespace eg::cpu::detail
