#pragma once

// The constants that the words are computed with, as whole vectors in memory.
//
// In wasm, a literal vector costs more than the arithmetic around it: engines build it from two
// 64-bit numbers, with five instructions at each use. A load is a single one. These tables are
// therefore defined in a separate source file, so that the compiler cannot turn them into literals.

#include <cstddef>

#include "backend/cpu/vector/vec.h"

namespace eg::cpu::detail {

template <class T>
struct ExpConstants;
template <class T>
struct LogConstants;

template <class T>
struct Format;

template <>
struct Format<float> {
  static constexpr int kMantissaBits = 23;
  static constexpr int kBias = 127;
  static constexpr int kDenormalBits = 24;
  static constexpr std::size_t kExpTerms = 5;
  static constexpr std::size_t kLogTerms = 8;
  static const ExpConstants<float> kExp;
  static const LogConstants<float> kLog;
};

template <>
struct Format<double> {
  static constexpr int kMantissaBits = 52;
  static constexpr int kBias = 1023;
  static constexpr int kDenormalBits = 54;
  static constexpr std::size_t kExpTerms = 12;
  static constexpr std::size_t kLogTerms = 10;
  /// The number of terms needed for float32 accuracy.
  static constexpr std::size_t kExpTermsForSingle = 7;
  static constexpr std::size_t kLogTermsForSingle = 6;
  static const ExpConstants<double> kExp;
  static const LogConstants<double> kLog;
};

/// A polynomial, given by the coefficients of x^0, x^1, ...
template <class T, std::size_t kCount>
struct Series {
  Vec<T> terms[kCount];

  /// Evaluates by Horner's rule. Terms before kFirst, and those from kEnd on, are left out.
  template <std::size_t kFirst = 0, std::size_t kEnd = kCount>
  [[gnu::always_inline]] Vec<T> at(Vec<T> x) const {
    if constexpr (kFirst + 1 == kEnd)
      return terms[kFirst];
    else
      return multiply_add(at<kFirst + 1, kEnd>(x), x, terms[kFirst]);
  }

  /// Evaluates pairs of terms side by side, given x^2 (Estrin's scheme): half as many operations
  /// wait for each other.
  template <std::size_t kFirst = 0, std::size_t kEnd = kCount>
  [[gnu::always_inline]] Vec<T> by_pairs(Vec<T> x, Vec<T> square) const {
    if constexpr (kFirst + 1 == kEnd) {
      return terms[kFirst];
    } else {
      const Vec<T> pair = multiply_add(terms[kFirst + 1], x, terms[kFirst]);
      if constexpr (kFirst + 2 == kEnd)
        return pair;
      else
        return multiply_add(by_pairs<kFirst + 2, kEnd>(x, square), square, pair);
    }
  }
};

/// A polynomial split into even and odd terms: the dependency chains are shorter, and rounding
/// errors accumulate less.
template <class T, std::size_t kEven, std::size_t kOdd>
struct HalvedSeries {
  Series<T, kEven> even;
  Series<T, kOdd> odd;

  [[gnu::always_inline]] Vec<T> at(Vec<T> x) const {
    const Vec<T> square = x * x;
    return multiply_add(odd.at(square), x, even.at(square));
  }
};

/// For exp and the functions based on it.
template <class T>
struct ExpConstants {
  Vec<T> log2_e;
  /// -ln 2 in two parts; an exponent times the first is exact.
  Vec<T> minus_ln2_high, minus_ln2_low;
  Vec<T> one, two, half;
  /// (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2.
  Series<T, Format<T>::kExpTerms> tail;

  // Adding one of these rounds to an integer n and leaves in the low bits the biased exponent of a
  // power of two, or the sum of the biased exponents of two powers.

  /// 2^n.
  Vec<T> to_power;
  /// 2^(n - 1).
  Vec<T> to_half_power;
  /// 2^(n - kDenormalBits).
  Vec<T> to_small_power;
  /// Two powers whose product is 2^n.
  Vec<T> to_two_powers;

  /// 2^-kDenormalBits.
  Vec<T> small;
  /// exp is zero below the first, and infinite above the second.
  Vec<T> exp_low, exp_high;
  /// The same limits for exp2.
  Vec<T> exp2_low, exp2_high;
  /// The lower limit of exp_of_negative(): the power of two with biased exponent 0 has an all-zero
  /// bit pattern, so exp is zero from here on.
  Vec<T> normal_low;
  /// expm1 is -1 below this.
  Vec<T> expm1_low;
  /// sigmoid is 0 below the first, and 1 above the second.
  Vec<T> sigmoid_low, sigmoid_high;
  /// tanh is 1 above this.
  Vec<T> tanh_high;
  Vec<UnsignedBits<T>> sign_bit;
};

/// For exp in float32, with exponents rounded to even numbers 2m.
struct EvenExpConstants {
  Vec<float> half_log2_e;
  /// -2 ln 2 in two parts; m times the first is exact.
  Vec<float> minus_two_ln2_high, minus_two_ln2_low;
  /// (exp(r) - 1 - r) / r^2 for |r| <= ln 2.
  Series<float, 6> tail;
};
extern const EvenExpConstants kEvenExp;

/// For the logarithms.
template <class T>
struct LogConstants {
  Vec<T> smallest_normal, largest;
  Vec<T> infinity, minus_infinity, quiet_nan;
  Vec<T> denormal_scale;
  /// The logarithms of 2^kDenormalBits to base e and 2.
  Vec<T> denormal_log, denormal_log2;
  Vec<T> ln2, log2_e;
  /// ln 2 in units of exponents (see LogParts), in float64 in two parts, and such a unit.
  Vec<T> ln2_high, ln2_low, exponent_unit;
  Vec<T> one, two, half;
  /// The bits of the lowest mantissa, 2/3 in float32 and sqrt(1/2) in float64, and in float64 those
  /// minus an offset that keeps exponents positive.
  Vec<UnsignedBits<T>> lowest, lowest_less_offset;
  Vec<UnsignedBits<T>> exponent_mask;
  /// The smallest normal number's bits, as the smallest signed number, and where the bits of
  /// positive normal numbers end after those have been subtracted.
  Vec<UnsignedBits<T>> first_normal;
  Vec<SignedBits<T>> count_of_normal;
  /// Converts integers in the low bits to floats; and the same combined with the offset.
  Vec<UnsignedBits<T>> rounder;
  Vec<T> rounder_and_offset;
  Series<T, Format<T>::kLogTerms> series;
};

/// For the error function, in float32.
struct ErfConstants {
  /// erf(x) / x - 1 as a polynomial in x^2, below the border.
  Series<float, 6> near_zero;
  Vec<float> border;
  /// log(1 - erf(x)) / x + 1 as a polynomial in x, up to where erf is 1.
  Series<float, 7> far;
  Vec<float> far_high;
  /// exp(x^2) erfc(x) as a quotient of polynomials, up to where erfc is 0.
  HalvedSeries<float, 3, 2> complement_numerator;
  HalvedSeries<float, 3, 3> complement_denominator;
  Vec<float> complement_high;
  Vec<std::uint32_t> high_half;
};
extern const ErfConstants kErf;

/// For sines in double with float32 accuracy.
struct SinConstants {
  Vec<double> two_over_pi, rounder, minus_half_pi_high, minus_half_pi_low, one;
  /// Bits of the quadrant: where sine and cosine are swapped, and where their sign changes.
  Vec<std::uint64_t> odd, negative;
  /// (sin(r) - r) / r^3 and (cos(r) - 1) / r^2 as polynomials in r^2, for |r| <= pi / 4.
  Series<double, 4> sin;
  Series<double, 4> cos;
};
extern const SinConstants kSin;

/// For the inverse trigonometric functions, in float32.
struct ArcConstants {
  /// (asin(s) - s) / s^3 for s <= 0.5405 and (atan(s) - s) / s^3 for s <= 1, as polynomials in s^2.
  Series<float, 5> asin;
  Series<float, 8> atan;
  /// Above this, pi / 2 - asin is less than 1; below it, the last place of the difference would be
  /// too coarse.
  Vec<float> asin_border;
  Vec<float> smallest;
  Vec<float> half_pi_high, half_pi_low;
};
extern const ArcConstants kArc;

/// For sinh and cosh, in float32.
struct HyperbolicConstants {
  /// (sinh(x) - x) / x^3 for x <= 1, as a polynomial in x^2.
  Series<float, 3> sinh;
  Vec<float> quarter;
  /// sinh and cosh are infinite above this.
  Vec<float> high;
};
extern const HyperbolicConstants kHyperbolic;

/// For the decimal logarithm, in float32; an exponent times the first part of log10(2) is exact.
struct Log10Constants {
  Vec<float> log10_2_high, log10_2_low, log10_e, denormal_log10;
};
extern const Log10Constants kLog10;

// For words in double with float32 accuracy.

/// For lgamma, digamma and its derivative: the sums over x, ..., x + 7 are rewritten as sums over
/// four products of two factors, which have x^2 + 7 x = t in common: t (t^3 + 28 t^2 + 252 t +
/// 720).
struct GammaConstants {
  Series<double, 4> product;
  Series<double, 4> slope;
  Series<double, 3> curvature;
  Vec<double> seven, eight, enough;
  /// log(x) - 1 / 2x - digamma(x), and the difference of its derivative from 1 / x + 1 / 2x^2, as
  /// polynomials in 1 / x^2.
  Series<double, 7> digamma;
  Series<double, 5> trigamma;
  /// x times the correction of Stirling's formula, as a polynomial in 1 / x^2.
  Series<double, 6> stirling;
  Vec<double> half_log_two_pi;
};
extern const GammaConstants kGamma;

/// For a modified Bessel function of the first kind, divided by exp(x).
struct BesselConstants {
  /// A polynomial in (x / 2)^2 below the border, without the exponential.
  Series<double, 16> near_zero;
  /// A polynomial in 1 / x, times sqrt(x).
  Series<double, 7> far;
};
extern const BesselConstants kBessel0;
extern const BesselConstants kBessel1;

/// The inverse of the error function divided by y, as a polynomial in -log(1 - y^2) - 5 / 2, for
/// -log(1 - y^2) up to 5.
extern const Series<double, 10> kErfinv;

}  // namespace eg::cpu::detail
