// Trigonometric functions, and the remainders of division.

#include <cmath>

#include "backend/cpu/vector/pack_math.h"
#include "backend/cpu/vector/vec_kernels.h"
#include "backend/cpu/vector/vec_lanes.h"

namespace eg::cpu {
namespace {

// Up to here the quotient by pi/2 times its first 25 bits is exact.
constexpr float kLargestReduced = 0x1p27F;

using detail::kSin;

// sin(x) or, after a quarter turn, cos(x), good to 2^-34: more than float32 can tell.
Vec<double> sin_shifted(Vec<double> x, Vec<std::uint64_t> quarter_turns) {
  const Vec<double> shifted = multiply_add(x, kSin.two_over_pi, kSin.rounder);
  const Vec<double> n = shifted - kSin.rounder;
  const Vec<double> r =
      multiply_add(n, kSin.minus_half_pi_low, multiply_add(n, kSin.minus_half_pi_high, x));
  const Vec<double> z = r * r;
  const Vec<double> sin = multiply_add(kSin.sin.at(z), z * r, r);
  const Vec<double> cos = multiply_add(kSin.cos.at(z), z, kSin.one);
  const Vec<std::uint64_t> quadrant = bits_of(shifted) + quarter_turns;
  const Vec<double> value = (quadrant & kSin.odd) != 0 ? cos : sin;
  return from_bits<double>(bits_of(value) ^ ((quadrant & kSin.negative) << 62));
}

Vec<float> sin_or_cos(Vec<float> x, Vec<std::uint64_t> quarter_turns, double (*accurate)(double)) {
  const Vec<float> result =
      narrow(sin_shifted(widen_low(x), quarter_turns), sin_shifted(widen_high(x), quarter_turns));
  const auto reduced = vec_abs(x) < kLargestReduced;
  return all(reduced) ? result : reduced ? result : each_lane(x, accurate);
}

double python_remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double python_floor_divide(double a, double b) {
  if (b == 0) return a / b;
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  // A quotient of exact multiples may still be a rounding error away from its integer.
  return quotient == 0 ? std::copysign(0.0, a / b) : std::nearbyint(quotient);
}

}  // namespace

Vec<float> vec_sin(Vec<float> x) {
  // The reduction turns -0 into 0.
  return x == 0 ? x : sin_or_cos(x, Vec<std::uint64_t>{}, std::sin);
}
Vec<float> vec_cos(Vec<float> x) { return sin_or_cos(x, kSin.odd, std::cos); }
Vec<double> vec_sin(Vec<double> x) { return each_lane(x, std::sin); }
Vec<double> vec_cos(Vec<double> x) { return each_lane(x, std::cos); }

EG_LANE_WORD(tan, std::tan)
EG_LANE_WORD(asin, std::asin)
EG_LANE_WORD(acos, std::acos)
EG_LANE_WORD(atan, std::atan)
EG_LANE_BINARY_WORD(atan2, std::atan2)
EG_LANE_BINARY_WORD(hypot, std::hypot)
EG_LANE_BINARY_WORD(fmod, std::fmod)
EG_LANE_BINARY_WORD(remainder, python_remainder)
EG_LANE_BINARY_WORD(floor_divide, python_floor_divide)

}  // namespace eg::cpu
