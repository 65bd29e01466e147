// Exponentials, logarithms, powers and hyperbolic functions.

#include <cmath>

#include "backend/cpu/vector/pack_math.h"
#include "backend/cpu/vector/vec_kernels.h"
#include "backend/cpu/vector/vec_lanes.h"

namespace eg::cpu {
namespace {

using detail::ExpConstants;
using detail::Format;
using detail::LogConstants;

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
    return multiply_add(parts.fraction, Format<T>::kLog.log2_e, parts.exponent);
  });
}

template <class T>
Vec<T> log1p_of(Vec<T> x) {
  const LogConstants<T>& k = Format<T>::kLog;
  const Vec<T> u = x + k.one;
  const Vec<T> log_u = detail::log_of<T>(u);
  // What rounding 1 + x lost, relative to u.
  const Vec<T> lost = (x - (u - k.one)) / u;
  const auto regular = (u > 0) & (u < k.infinity);
  return regular ? log_u + lost : log_u;
}

// The exponents people write. Chosen lane by lane: a result must not depend on its neighbours.
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

// exp(exponent log base) in double: 53 bits leave 24 correct ones up to the largest float32.
Vec<double> positive_power(Vec<double> base, Vec<double> exponent) {
  return detail::exp_of<double>(exponent * detail::log_of<double>(base));
}

Vec<float> general_power(Vec<float> base, Vec<float> exponent) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Vec<float> power = narrow(positive_power(widen_low(base), widen_low(exponent)),
                                  positive_power(widen_high(base), widen_high(exponent)));
  const auto regular = (base > 0) & (base < kInfinity) & (vec_abs(exponent) < kInfinity);
  if (all(regular)) return power;
  const Vec<float> accurate = each_lane(base, exponent, std::pow);
  return regular ? power : accurate;
}

// The C library of wasm answers for large negative numbers.
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

EG_LANE_WORD(log10, std::log10)
EG_LANE_WORD(sinh, std::sinh)
EG_LANE_WORD(cosh, std::cosh)
EG_LANE_WORD(asinh, std::asinh)
EG_LANE_WORD(acosh, checked_acosh)
EG_LANE_WORD(atanh, std::atanh)

Vec<float> vec_pow(Vec<float> base, Vec<float> exponent) {
  const auto [known, power] = small_powers<float>(base, exponent);
  return all(known) ? power : known ? power : general_power(base, exponent);
}
Vec<double> vec_pow(Vec<double> base, Vec<double> exponent) {
  const auto [known, power] = small_powers<double>(base, exponent);
  return all(known) ? power : known ? power : each_lane(base, exponent, std::pow);
}

}  // namespace eg::cpu
