#pragma once

// The words that training spends most time in, and exp and log as building blocks of others.
//
// The same code serves both types: arguments are reduced exactly, then a series with as many terms
// as the type needs is evaluated. Constants that depend on the type are in vec_constants.h.

#include "backend/cpu/vector/vec.h"
#include "backend/cpu/vector/vec_constants.h"

namespace eg::cpu::detail {

template <class T>
using BitVec = Vec<UnsignedBits<T>>;

/// The larger or smaller of two numbers; NaN if the first one is.
template <class T>
[[gnu::always_inline]] inline Vec<T> at_least(Vec<T> x, Vec<T> low) {
  return x < low ? low : x;
}
template <class T>
[[gnu::always_inline]] inline Vec<T> at_most(Vec<T> x, Vec<T> high) {
  return high < x ? high : x;
}

/// A number split into sign and magnitude.
template <class T>
struct SignAndMagnitude {
  BitVec<T> sign;
  Vec<T> magnitude;

  explicit SignAndMagnitude(Vec<T> x)
      : sign(bits_of(x) & Format<T>::kExp.sign_bit), magnitude(from_bits<T>(bits_of(x) ^ sign)) {}

  /// Applies the sign to another magnitude.
  Vec<T> with(Vec<T> other) const { return from_bits<T>(bits_of(other) | sign); }
};

/// Returns the power of two whose biased exponent is in the low bits.
template <class T>
[[gnu::always_inline]] inline Vec<T> power_of_two(BitVec<T> bits) {
  return from_bits<T>(bits << Format<T>::kMantissaBits);
}

/// Returns y times the product of two powers of two. `bits` holds the sum of their biased
/// exponents. Two powers are used so that results are rounded only once where they become denormal
/// or infinite.
template <class T>
[[gnu::always_inline]] inline Vec<T> scale(Vec<T> y, BitVec<T> bits) {
  const BitVec<T> first = bits >> 1;
  return y * power_of_two<T>(first) * power_of_two<T>(bits - first);
}

/// exp(r) - 1 for |r| <= 0.4.
template <class T, std::size_t kTerms = Format<T>::kExpTerms>
[[gnu::always_inline]] inline Vec<T> expm1_series(Vec<T> r) {
  const Vec<T> square = r * r;
  return multiply_add(Format<T>::kExp.tail.template by_pairs<0, kTerms>(r, square), square, r);
}

/// exp(r) for |r| <= 0.4.
template <class T, std::size_t kTerms = Format<T>::kExpTerms>
[[gnu::always_inline]] inline Vec<T> exp_series(Vec<T> r) {
  return expm1_series<T, kTerms>(r) + Format<T>::kExp.one;
}

/// x = n ln 2 + rest.
template <class T>
struct ExpReduction {
  Vec<T> n;
  BitVec<T> bits;
  Vec<T> rest;
};

/// Rounds the exponent with one of the rounders of ExpConstants, which determines what `bits` are.
template <class T>
[[gnu::always_inline]] inline ExpReduction<T> reduce_exp(Vec<T> x, Vec<T> rounder) {
  const ExpConstants<T>& k = Format<T>::kExp;
  const Vec<T> shifted = multiply_add(x, k.log2_e, rounder);
  const Vec<T> n = shifted - rounder;
  const Vec<T> rest = multiply_add(n, k.minus_ln2_high, x);
  return {n, bits_of(shifted), multiply_add(n, k.minus_ln2_low, rest)};
}

template <class T, std::size_t kTerms = Format<T>::kExpTerms>
[[gnu::always_inline]] inline Vec<T> exp_of(Vec<T> x) {
  const ExpConstants<T>& k = Format<T>::kExp;
  x = at_most<T>(at_least<T>(x, k.exp_low), k.exp_high);
  const ExpReduction<T> reduced = reduce_exp<T>(x, k.to_two_powers);
  return scale<T>(exp_series<T, kTerms>(reduced.rest), reduced.bits);
}

/// In float32 the exponent is rounded to an even number 2m, so that one power of two, used twice,
/// does for scale(). The longer series costs less than the second power.
template <>
[[gnu::always_inline]] inline Vec<float> exp_of<float>(Vec<float> x) {
  const ExpConstants<float>& k = Format<float>::kExp;
  x = at_most<float>(at_least<float>(x, k.exp_low), k.exp_high);
  const Vec<float> shifted = multiply_add(x, kEvenExp.half_log2_e, k.to_power);
  const Vec<float> m = shifted - k.to_power;
  const Vec<float> rest =
      multiply_add(m, kEvenExp.minus_two_ln2_low, multiply_add(m, kEvenExp.minus_two_ln2_high, x));
  const Vec<float> square = rest * rest;
  const Vec<float> series = multiply_add(kEvenExp.tail.by_pairs(rest, square), square, rest);
  const Vec<float> power = power_of_two<float>(bits_of(shifted));
  return multiply_add(series, power, power) * power;
}

/// Accurate to float32.
[[gnu::always_inline]] inline Vec<double> exp_for_single(Vec<double> x) {
  return exp_of<double, Format<double>::kExpTermsForSingle>(x);
}

/// exp(x) for x <= 0. Results below the smallest normal number are zero.
template <class T>
[[gnu::always_inline]] inline Vec<T> exp_of_negative(Vec<T> x) {
  const ExpConstants<T>& k = Format<T>::kExp;
  const ExpReduction<T> reduced = reduce_exp<T>(at_least<T>(x, k.normal_low), k.to_power);
  const Vec<T> power = power_of_two<T>(reduced.bits);
  return multiply_add(expm1_series<T>(reduced.rest), power, power);
}

template <class T>
[[gnu::always_inline]] inline Vec<T> expm1_of(Vec<T> x) {
  const ExpConstants<T>& k = Format<T>::kExp;
  x = at_most<T>(at_least<T>(x, k.expm1_low), k.exp_high);
  // Halved, because 2^n is not representable at the upper end.
  const ExpReduction<T> reduced = reduce_exp<T>(x, k.to_half_power);
  const Vec<T> series = expm1_series<T>(reduced.rest);
  const Vec<T> half = power_of_two<T>(reduced.bits);
  const Vec<T> scaled = multiply_add(series, half, half - k.half) * k.two;
  return reduced.n == 0 ? series : scaled;
}

/// log(x) = exponent ln 2 + fraction for normal positive x. In float32 the exponent is a multiple
/// of 2^23, and the constants that multiply it are smaller by that factor.
template <class T>
struct LogParts {
  Vec<T> exponent;
  Vec<T> fraction;
};

/// log(1 + f) for 2/3 <= 1 + f < 4/3.
[[gnu::always_inline]] inline Vec<float> log1p_series(Vec<float> f) {
  const LogConstants<float>& k = Format<float>::kLog;
  const Vec<float> square = f * f;
  const Vec<float> series = multiply_add(k.series.by_pairs(f, square), f, -k.half);
  return multiply_add(series, square, f);
}

/// The same in double, for sqrt(1/2) <= 1 + f < sqrt(2): twice the series of artanh(f / (2 + f)).
template <std::size_t kTerms>
[[gnu::always_inline]] inline Vec<double> log1p_series(Vec<double> f) {
  const LogConstants<double>& k = Format<double>::kLog;
  const Vec<double> s = f / (f + k.two);
  const Vec<double> z = s * s;
  // Arranged so that the leading term f is not rounded.
  const Vec<double> half_square = f * f * k.half;
  return f - (half_square - s * (half_square + z * k.series.at<0, kTerms>(z)));
}

template <class T, std::size_t kTerms = Format<T>::kLogTerms>
[[gnu::always_inline]] inline LogParts<T> log_parts(Vec<T> x) {
  const LogConstants<T>& k = Format<T>::kLog;
  const BitVec<T> bits = bits_of(x) - k.lowest_less_offset;
  if constexpr (sizeof(T) == 4) {
    // The exponent's bits in their place, as an integer.
    const BitVec<T> exponent = bits & k.exponent_mask;
    return {__builtin_convertvector(std::bit_cast<Vec<SignedBits<T>>>(exponent), Vec<T>),
            log1p_series(from_bits<T>(bits_of(x) - exponent) - k.one)};
  } else {
    const Vec<T> exponent =
        from_bits<T>((bits >> Format<T>::kMantissaBits) + k.rounder) - k.rounder_and_offset;
    const Vec<T> mantissa = from_bits<T>((bits & ~k.exponent_mask) + k.lowest);
    return {exponent, log1p_series<kTerms>(mantissa - k.one)};
  }
}

/// Computes a logarithm of any number from `log_of_normal`, which handles normal positive numbers.
/// `of_denormal_scale` is the logarithm of the scale of LogConstants.
template <class T, class Log>
[[gnu::always_inline]] inline Vec<T> log_of_any(Vec<T> x, Vec<T> of_denormal_scale,
                                                Log&& log_of_normal) {
  const LogConstants<T>& k = Format<T>::kLog;
  // Positive normal numbers are the smallest ones after this subtraction, of bits as signed
  // numbers.
  const auto place = std::bit_cast<Vec<SignedBits<T>>>(bits_of(x) - k.first_normal);
  const bool is_normal = all(place < k.count_of_normal);
  Vec<T> normal = x;
  if (!is_normal) [[unlikely]] {
    const Vec<T> magnitude = SignAndMagnitude<T>(x).magnitude;
    normal = magnitude < k.smallest_normal ? magnitude * k.denormal_scale : magnitude;
  }
  Vec<T> result = log_of_normal(normal);
  if (!is_normal) [[unlikely]] {
    result = x < k.smallest_normal ? result - of_denormal_scale : result;
    result = x == 0 ? k.minus_infinity : result;
    result = x <= k.largest ? result : x;
    result = x >= 0 ? result : k.quiet_nan;
  }
  return result;
}

/// log(x) for normal positive x.
template <class T, std::size_t kTerms = Format<T>::kLogTerms>
[[gnu::always_inline]] inline Vec<T> log_of_normal(Vec<T> x) {
  const LogParts<T> parts = log_parts<T, kTerms>(x);
  if constexpr (sizeof(T) == 4) {
    return multiply_add(parts.exponent, Format<T>::kLog.ln2_high, parts.fraction);
  } else {
    return multiply_add(parts.exponent, Format<T>::kLog.ln2_high,
                        multiply_add(parts.exponent, Format<T>::kLog.ln2_low, parts.fraction));
  }
}

template <class T, std::size_t kTerms = Format<T>::kLogTerms>
[[gnu::always_inline]] inline Vec<T> log_of(Vec<T> x) {
  return log_of_any<T>(x, Format<T>::kLog.denormal_log, log_of_normal<T, kTerms>);
}

/// Accurate to float32.
[[gnu::always_inline]] inline Vec<double> log_for_single(Vec<double> x) {
  return log_of<double, Format<double>::kLogTermsForSingle>(x);
}

template <class T>
[[gnu::always_inline]] inline Vec<T> sigmoid_of(Vec<T> x) {
  const ExpConstants<T>& k = Format<T>::kExp;
  // 1 / (1 + exp(-x)), with all terms scaled down so that exp does not overflow before the result
  // underflows.
  x = at_most<T>(at_least<T>(x, k.sigmoid_low), k.sigmoid_high);
  const ExpReduction<T> reduced = reduce_exp<T>(-x, k.to_small_power);
  const Vec<T> power = power_of_two<T>(reduced.bits);
  return k.small / multiply_add(expm1_series<T>(reduced.rest), power, power + k.small);
}

template <class T>
[[gnu::always_inline]] inline Vec<T> tanh_of(Vec<T> x) {
  const ExpConstants<T>& k = Format<T>::kExp;
  const SignAndMagnitude<T> parts(x);
  const Vec<T> magnitude = at_most<T>(parts.magnitude, k.tanh_high);
  // expm1(2 |x|)
  const ExpReduction<T> reduced = reduce_exp<T>(magnitude + magnitude, k.to_power);
  const Vec<T> power = power_of_two<T>(reduced.bits);
  const Vec<T> e = multiply_add(expm1_series<T>(reduced.rest), power, power - k.one);
  return parts.with(e / (e + k.two));
}

/// erf(|x|) up to the border.
[[gnu::always_inline]] inline Vec<float> erf_near_zero(Vec<float> magnitude) {
  return multiply_add(kErf.near_zero.at(magnitude * magnitude), magnitude, magnitude);
}

/// erf(|x|) above the border: 1 - exp(a polynomial).
[[gnu::always_inline]] inline Vec<float> erf_far(Vec<float> magnitude) {
  magnitude = at_most<float>(magnitude, kErf.far_high);
  const Vec<float> exponent = multiply_add(kErf.far.at(magnitude), magnitude, -magnitude);
  return Format<float>::kExp.one - exp_of_negative<float>(exponent);
}

[[gnu::always_inline]] inline Vec<float> erf_of(Vec<float> x) {
  const SignAndMagnitude<float> parts(x);
  const Vec<float> near = erf_near_zero(parts.magnitude);
  const Vec<float> far = erf_far(parts.magnitude);
  return parts.with(parts.magnitude < kErf.border ? near : far);
}

/// fl(x^2) - x^2, the rounding error of the square. Never NaN for a number x.
[[gnu::always_inline]] inline Vec<float> lost_by_square([[maybe_unused]] Vec<float> x,
                                                        [[maybe_unused]] Vec<float> magnitude) {
#ifdef __wasm_relaxed_simd__
  const Vec<float> lost = multiply_add(-x, x, x * x);
  // For large numbers the square is infinite, and this is NaN.
  return lost < kErf.border ? lost : kErf.border;
#else
  // The square of the upper half of the digits is exact.
  const Vec<float> high = from_bits<float>(bits_of(magnitude) & kErf.high_half);
  return (magnitude * magnitude - high * high) - (magnitude - high) * (magnitude + high);
#endif
}

[[gnu::always_inline]] inline Vec<float> erfc_of(Vec<float> x) {
  const SignAndMagnitude<float> parts(x);
  const Vec<float> magnitude = at_most<float>(parts.magnitude, kErf.complement_high);
  // Written as a formula would write it, so that a formula which needs the same term shares it.
  const Vec<float> power = exp_of<float>(-x * x);
  // Everything else is computed while that is: division takes long.
  const Vec<float> quotient =
      kErf.complement_numerator.at(magnitude) / kErf.complement_denominator.at(magnitude);
  const Vec<float> corrected = multiply_add(quotient, lost_by_square(x, magnitude), quotient);
  const Vec<float> positive = power * corrected;
  // 2 - erfc(-x) for negative numbers, and for -0, whose sign `positive` gets too.
  const auto is_negative = std::bit_cast<Vec<std::int32_t>>(x) < 0;
  const Vec<float> two = is_negative ? Format<float>::kExp.two : Vec<float>{};
  return two + parts.with(positive);
}

}  // namespace eg::cpu::detail
