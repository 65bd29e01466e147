// Exponentials, logarithms, powers and hyperbolic functions.

#include <cmath>

#include "backend/cpu/vector/pack_math.h"
#include "backend/cpu/vector/vec_kernels.h"
#include "backend/cpu/vector/vec_lanes.h"

namespace eg::cpu {
namespace {

using detail::ExpConstants;
using detail::Format;
using detail::kHyperbolic;
using detail::kLog10;
using detail::LogConstants;
using detail::SignAndMagnitude;

template <class T>
Vec<T> exp2_of(Vec<T> x) {
  const ExpConstants<T>& k = Format<T>::kExp;
  x = detail::at_most<T>(detail::at_least<T>(x, k.exp2_low), k.exp2_high);
  const Vec<T> shifted = x + k.to_two_powers;
  const Vec<T> rest = x - (shifted - k.to_two_powers);
  return detail::scale<T>(detail::exp_series<T>(rest * Format<T>::kLog.ln2), bits_of(shifted));
}

template <class T>
Vec<T> log2_of(Vec<T> x) {
  return detail::log_of_any<T>(x, Format<T>::kLog.denormal_log2, [](Vec<T> normal) {
    const detail::LogParts<T> parts = detail::log_parts<T>(normal);
    return multiply_add(parts.fraction, Format<T>::kLog.log2_e,
                        parts.exponent * Format<T>::kLog.exponent_unit);
  });
}

template <class T>
Vec<T> log1p_of(Vec<T> x) {
  const LogConstants<T>& k = Format<T>::kLog;
  const Vec<T> u = x + k.one;
  const Vec<T> log_u = detail::log_of<T>(u);
  // The rounding error of 1 + x, relative to u.
  const Vec<T> lost = (x - (u - k.one)) / u;
  const auto regular = (u > 0) & (u < k.infinity);
  return regular ? log_u + lost : log_u;
}

// Fast paths for the most common exponents. Selected lane by lane, because a result must not depend
// on its neighbors.
template <class T>
struct SmallPowers {
  MaskBits<T> known;
  Vec<T> power;
};

template <class T>
SmallPowers<T> small_powers(Vec<T> base, Vec<T> exponent) {
  const Vec<T> square = base * base;
  const Vec<T> one_or_less = exponent == 0 ? Vec<T>{} + 1 : 1 / base;
  const Vec<T> up_to_one = exponent == 1 ? base : one_or_less;
  const Vec<T> up_to_two = exponent == 2 ? square : up_to_one;
  return {(exponent == 0) | (exponent == 1) | (exponent == 2) | (exponent == 3) | (exponent == -1),
          exponent == 3 ? square * base : up_to_two};
}

double power_of(double base, double exponent) { return std::pow(base, exponent); }

// exp(exponent log base) in double: the extra digits of the logarithm make up for those that a
// large exponent takes away.
Vec<float> general_power(Vec<float> base, Vec<float> exponent) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Vec<float> power = by_halves(base, exponent, [](Vec<double> b, Vec<double> e) {
    return detail::exp_for_single(
        e * detail::log_of_normal<double, Format<double>::kLogTermsForSingle>(b));
  });
  const auto regular = (base > 0) & (base < kInfinity) & (vec_abs(exponent) < kInfinity);
  return or_each_lane(regular, power, power_of, base, exponent);
}

Vec<float> log10_of(Vec<float> x) {
  return detail::log_of_any<float>(x, kLog10.denormal_log10, [](Vec<float> normal) {
    const detail::LogParts<float> parts = detail::log_parts<float>(normal);
    return multiply_add(
        parts.exponent, kLog10.log10_2_high,
        multiply_add(parts.exponent, kLog10.log10_2_low, parts.fraction * kLog10.log10_e));
  });
}

// exp(x) / 2, which does not overflow before sinh and cosh do.
Vec<float> half_exp(Vec<float> magnitude) {
  const detail::ExpReduction<float> reduced = detail::reduce_exp<float>(
      detail::at_most<float>(magnitude, kHyperbolic.high), Format<float>::kExp.to_two_powers);
  return detail::scale<float>(detail::exp_series<float>(reduced.rest), reduced.bits - 1);
}

Vec<float> sinh_of(Vec<float> x) {
  const SignAndMagnitude<float> parts(x);
  const Vec<float> half = half_exp(parts.magnitude);
  const Vec<float> square = x * x;
  const Vec<float> near_zero = multiply_add(kHyperbolic.sinh.at(square) * square, x, x);
  return parts.magnitude < Format<float>::kExp.one ? near_zero
                                                   : parts.with(half - kHyperbolic.quarter / half);
}

Vec<float> cosh_of(Vec<float> x) {
  const Vec<float> half = half_exp(SignAndMagnitude<float>(x).magnitude);
  return half + kHyperbolic.quarter / half;
}

// Accurate to float32.
[[gnu::noinline]] Vec<double> log_for_single(Vec<double> x) { return detail::log_for_single(x); }

// Evaluates an odd function in double. Near zero the function has lost its digits and equals x in
// float32, so x is returned.
Vec<float> odd_logarithm(Vec<float> x, auto of_magnitude) {
  constexpr float kIsIdentity = 0x1p-12F;
  const SignAndMagnitude<float> parts(x);
  const Vec<float> result = by_halves(parts.magnitude, of_magnitude);
  return parts.magnitude < kIsIdentity ? x : parts.with(result);
}

// The C library of wasm returns a number for large negative arguments, where the result must be
// NaN.
double checked_acosh(double x) {
  return x < 1 ? std::numeric_limits<double>::quiet_NaN() : std::acosh(x);
}

}  // namespace

Vec<float> vec_exp(Vec<float> x) { return detail::exp_of<float>(x); }
Vec<double> vec_exp(Vec<double> x) { return detail::exp_of<double>(x); }
Vec<float> vec_exp2(Vec<float> x) { return exp2_of<float>(x); }
Vec<double> vec_exp2(Vec<double> x) { return exp2_of<double>(x); }
Vec<float> vec_expm1(Vec<float> x) { return detail::expm1_of<float>(x); }
Vec<double> vec_expm1(Vec<double> x) { return detail::expm1_of<double>(x); }
Vec<float> vec_log(Vec<float> x) { return detail::log_of<float>(x); }
Vec<double> vec_log(Vec<double> x) { return detail::log_of<double>(x); }
Vec<float> vec_log2(Vec<float> x) { return log2_of<float>(x); }
Vec<double> vec_log2(Vec<double> x) { return log2_of<double>(x); }
Vec<float> vec_log1p(Vec<float> x) { return log1p_of<float>(x); }
Vec<double> vec_log1p(Vec<double> x) { return log1p_of<double>(x); }
Vec<float> vec_sigmoid(Vec<float> x) { return detail::sigmoid_of<float>(x); }
Vec<double> vec_sigmoid(Vec<double> x) { return detail::sigmoid_of<double>(x); }
Vec<float> vec_tanh(Vec<float> x) { return detail::tanh_of<float>(x); }
Vec<double> vec_tanh(Vec<double> x) { return detail::tanh_of<double>(x); }

Vec<float> vec_log10(Vec<float> x) { return log10_of(x); }
Vec<float> vec_sinh(Vec<float> x) { return sinh_of(x); }
Vec<float> vec_cosh(Vec<float> x) { return cosh_of(x); }
Vec<float> vec_asinh(Vec<float> x) {
  return odd_logarithm(x, [](Vec<double> magnitude) {
    return log_for_single(magnitude + vec_sqrt(magnitude * magnitude + 1));
  });
}
Vec<float> vec_acosh(Vec<float> x) {
  // Uses two square roots, because that of y * y - 1 would also exist for negative numbers.
  return by_halves(
      x, [](Vec<double> y) { return log_for_single(y + vec_sqrt(y - 1) * vec_sqrt(y + 1)); });
}
Vec<float> vec_atanh(Vec<float> x) {
  return odd_logarithm(x, [](Vec<double> magnitude) {
    return log_for_single((1 + magnitude) / (1 - magnitude)) * 0.5;
  });
}
EG_LANE_WORD_IN_DOUBLE(log10, std::log10)
EG_LANE_WORD_IN_DOUBLE(sinh, std::sinh)
EG_LANE_WORD_IN_DOUBLE(cosh, std::cosh)
EG_LANE_WORD_IN_DOUBLE(asinh, std::asinh)
EG_LANE_WORD_IN_DOUBLE(acosh, checked_acosh)
EG_LANE_WORD_IN_DOUBLE(atanh, std::atanh)

Vec<float> vec_pow(Vec<float> base, Vec<float> exponent) {
  const auto [known, power] = small_powers<float>(base, exponent);
  return all(known) ? power : known ? power : general_power(base, exponent);
}
Vec<double> vec_pow(Vec<double> base, Vec<double> exponent) {
  const auto [known, power] = small_powers<double>(base, exponent);
  return all(known) ? power : known ? power : each_lane(base, exponent, std::pow);
}

}  // namespace eg::cpu
