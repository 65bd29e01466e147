// Trigonometric functions, and the remainders of division.

#include <cmath>

#include "backend/cpu/vector/pack_math.h"
#include "backend/cpu/vector/vec_kernels.h"
#include "backend/cpu/vector/vec_lanes.h"

namespace eg::cpu {
namespace {

// Up to here the quotient by pi/2 times its first 25 bits is exact.
constexpr float kLargestReduced = 0x1p27F;

// sin and cos of [-pi/4, pi/4], good to 2^-34: more than float32 can tell.
Vec<double> sin_series(Vec<double> r) {
  const Vec<double> z = r * r;
  const Vec<double> tail = 0.0083333293858894631756 +
                           z * (-0.000198393348360966317347 + z * 0.0000027183114939898219064);
  return r + r * z * (-0.166666666416265235595 + z * tail);
}
Vec<double> cos_series(Vec<double> r) {
  const Vec<double> z = r * r;
  const Vec<double> tail =
      0.0416666233237390631894 + z * (-0.00138867637746099294692 + z * 0.0000243904487962774090654);
  return 1.0 + z * (-0.499999997251031003120 + z * tail);
}

// sin(x + quarter_turns pi/2).
Vec<double> sin_shifted(Vec<double> x, std::uint64_t quarter_turns) {
  constexpr double kTwoOverPi = 0.63661977236758134308;
  constexpr double kHalfPiHigh = 1.57079631090164184570;
  constexpr double kHalfPiLow = 1.58932547735281966916e-08;
  const detail::Rounded<double> n = detail::round_to_bits<double>(x * kTwoOverPi);
  const Vec<double> r = (x - n.value * kHalfPiHigh) - n.value * kHalfPiLow;
  const Vec<std::uint64_t> quadrant = n.bits + quarter_turns;
  const Vec<double> value = (quadrant & 1) != 0 ? cos_series(r) : sin_series(r);
  return from_bits<double>(bits_of(value) ^ ((quadrant & 2) << 62));
}

Vec<float> sin_or_cos(Vec<float> x, std::uint64_t quarter_turns, double (*accurate)(double)) {
  const Vec<float> result =
      narrow(sin_shifted(widen_low(x), quarter_turns), sin_shifted(widen_high(x), quarter_turns));
  const auto reduced = vec_abs(x) < kLargestReduced;
  Vec<float> checked = result;
  for (int i = 0; i < kLanes<float>; ++i) {
    if (reduced[i] == 0) checked[i] = static_cast<float>(accurate(static_cast<double>(x[i])));
  }
  return checked;
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
  return x == 0 ? x : sin_or_cos(x, 0, std::sin);
}
Vec<float> vec_cos(Vec<float> x) { return sin_or_cos(x, 1, std::cos); }
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
