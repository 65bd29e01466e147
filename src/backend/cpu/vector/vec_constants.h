#pragma once

// The numbers the words are computed with, as whole vectors in memory.
//
// A literal vector in wasm costs more than the arithmetic around it: engines build it out of two
// 64-bit numbers, five instructions each time it is used. A load is one. So these tables are
// defined in a file of their own, where the compiler cannot see them and make literals of them.

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
  static constexpr std::size_t kLogTerms = 9;
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
  /// How many of them float32 can tell.
  static constexpr std::size_t kExpTermsForSingle = 7;
  static constexpr std::size_t kLogTermsForSingle = 6;
  static const ExpConstants<double> kExp;
  static const LogConstants<double> kLog;
};

/// A polynomial: the coefficients of x^0, x^1, ...
template <class T, std::size_t kCount>
struct Series {
  Vec<T> terms[kCount];

  /// By Horner's rule; terms before kFirst, and those from kEnd on, are left out.
  template <std::size_t kFirst = 0, std::size_t kEnd = kCount>
  [[gnu::always_inline]] Vec<T> at(Vec<T> x) const {
    if constexpr (kFirst + 1 == kEnd)
      return terms[kFirst];
    else
      return multiply_add(at<kFirst + 1, kEnd>(x), x, terms[kFirst]);
  }
};

/// A polynomial by its even and odd terms: shorter chains, in which rounding piles up less.
template <class T, std::size_t kEven, std::size_t kOdd>
struct HalvedSeries {
  Series<T, kEven> even;
  Series<T, kOdd> odd;

  [[gnu::always_inline]] Vec<T> at(Vec<T> x) const {
    const Vec<T> square = x * x;
    return multiply_add(odd.at(square), x, even.at(square));
  }
};

/// For exp and what is made of it.
template <class T>
struct ExpConstants {
  Vec<T> log2_e;
  /// -ln 2 in two parts; an exponent times the first is exact.
  Vec<T> minus_ln2_high, minus_ln2_low;
  Vec<T> one, two, half;
  /// (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2.
  Series<T, Format<T>::kExpTerms> tail;

  // Adding one of these rounds to a whole number n, and leaves in the low bits the biased exponent
  // of a power of two, or the sum of two.

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
  /// In exponents.
  Vec<T> exp2_low, exp2_high;
  /// The power of two of the least exponent, all of whose bits are zero, is zero.
  Vec<T> normal_low;
  /// expm1 is -1 below.
  Vec<T> expm1_low;
  /// sigmoid is 0 below the first, and 1 above the second.
  Vec<T> sigmoid_low, sigmoid_high;
  /// tanh is 1 above.
  Vec<T> tanh_high;
  Vec<UnsignedBits<T>> sign_bit;
};

/// For the logarithms.
template <class T>
struct LogConstants {
  Vec<T> smallest_normal, largest;
  Vec<T> infinity, minus_infinity, quiet_nan;
  Vec<T> denormal_scale;
  /// The logarithms of 2^kDenormalBits to base e and 2.
  Vec<T> denormal_log, denormal_log2;
  Vec<T> ln2, ln2_high, ln2_low, log2_e;
  Vec<T> one, two, half;
  /// The bits of sqrt(1/2), and those less an offset that keeps exponents positive.
  Vec<UnsignedBits<T>> sqrt_half, sqrt_half_less_offset;
  Vec<UnsignedBits<T>> mantissa_mask;
  /// Turns whole numbers in bits to numbers; less that and the offset.
  Vec<UnsignedBits<T>> rounder;
  Vec<T> rounder_and_offset;
  Series<T, Format<T>::kLogTerms> series;
};

/// For the error function, in float32.
struct ErfConstants {
  /// erf(x) / x - 1 in x^2 below the border.
  Series<float, 6> near_zero;
  Vec<float> border;
  /// log(1 - erf(x)) / x + 1 in x, up to where erf is 1.
  Series<float, 7> far;
  Vec<float> far_high;
  /// exp(x^2) erfc(x), up to where erfc is 0.
  HalvedSeries<float, 3, 2> complement_numerator;
  HalvedSeries<float, 3, 3> complement_denominator;
  Vec<float> complement_high;
  Vec<std::uint32_t> high_half;
};
extern const ErfConstants kErf;

/// For sines in double that are good to float32.
struct SinConstants {
  Vec<double> two_over_pi, rounder, minus_half_pi_high, minus_half_pi_low, one;
  /// Bits of the quadrant: where sine and cosine change places, and where they change their sign.
  Vec<std::uint64_t> odd, negative;
  /// (sin(r) - r) / r^3 and (cos(r) - 1) / r^2 in r^2, for |r| <= pi / 4.
  Series<double, 4> sin;
  Series<double, 4> cos;
};
extern const SinConstants kSin;

/// For the inverse trigonometric functions, in float32.
struct ArcConstants {
  /// (asin(s) - s) / s^3 for s <= 0.5405 and (atan(s) - s) / s^3 for s <= 1, in s^2.
  Series<float, 5> asin;
  Series<float, 8> atan;
  /// Above, what asin lacks of pi / 2 is less than 1: where it is not, its last place is too
  /// coarse.
  Vec<float> asin_border;
  Vec<float> smallest;
  Vec<float> half_pi_high, half_pi_low;
};
extern const ArcConstants kArc;

/// For sinh and cosh, in float32.
struct HyperbolicConstants {
  /// (sinh(x) - x) / x^3 for x <= 1, in x^2.
  Series<float, 3> sinh;
  Vec<float> quarter;
  /// Both are infinite above.
  Vec<float> high;
};
extern const HyperbolicConstants kHyperbolic;

/// For the decimal logarithm, in float32; an exponent times the first part of log10(2) is exact.
struct Log10Constants {
  Vec<float> log10_2_high, log10_2_low, log10_e, denormal_log10;
};
extern const Log10Constants kLog10;

// For words in double that are good to float32.

/// For lgamma, digamma and its derivative: sums over x, ..., x + 7 are those of the four products
/// of two that have x^2 + 7 x = t in common, t (t^3 + 28 t^2 + 252 t + 720).
struct GammaConstants {
  Series<double, 4> product;
  Series<double, 4> slope;
  Series<double, 3> curvature;
  Vec<double> seven, eight, enough;
  /// log(x) - 1 / 2x - digamma(x), and its derivative's excess over 1 / x + 1 / 2x^2, in 1 / x^2.
  Series<double, 7> digamma;
  Series<double, 5> trigamma;
  /// x times what Stirling's formula lacks, in 1 / x^2.
  Series<double, 6> stirling;
  Vec<double> half_log_two_pi;
};
extern const GammaConstants kGamma;

/// For a modified Bessel function of the first kind over exp(x).
struct BesselConstants {
  /// In (x / 2)^2, below the border, without the exponential.
  Series<double, 16> near_zero;
  /// In 1 / x, times sqrt(x).
  Series<double, 7> far;
};
extern const BesselConstants kBessel0;
extern const BesselConstants kBessel1;

/// For the inverse of the error function over y: in -log(1 - y^2) - 5 / 2, where that is up to 5
/// / 2.
extern const Series<double, 10> kErfinv;

}  // namespace eg::cpu::detail
