// Trigonometric functions, and the remainders of division.

#include <cmath>

#include "backend/cpu/vector/pack_math.h"
#include "backend/cpu/vector/vec_kernels.h"
#include "backend/cpu/vector/vec_lanes.h"

namespace eg::cpu {
namespace {

// Up to this size, the product of the quotient by pi/2 and the first 25 bits of pi/2 is exact.
constexpr float kLargestReduced = 0x1p27F;

using detail::kArc;
using detail::kSin;
using detail::SignAndMagnitude;

// sin and cos for |r| <= pi / 4, where x = r + quadrant pi / 2; accurate to 2^-34, which is more
// than float32 can represent.
struct SinAndCos {
  Vec<double> sin, cos;
  Vec<std::uint64_t> quadrant;
};

SinAndCos sin_and_cos(Vec<double> x) {
  const Vec<double> shifted = multiply_add(x, kSin.two_over_pi, kSin.rounder);
  const Vec<double> n = shifted - kSin.rounder;
  const Vec<double> r =
      multiply_add(n, kSin.minus_half_pi_low, multiply_add(n, kSin.minus_half_pi_high, x));
  const Vec<double> z = r * r;
  const Vec<double> sin = multiply_add(kSin.sin.at(z), z * r, r);
  const Vec<double> cos = multiply_add(kSin.cos.at(z), z, kSin.one);
  return {sin, cos, bits_of(shifted)};
}

// sin(x), or cos(x) with one quarter turn.
Vec<double> sin_shifted(Vec<double> x, Vec<std::uint64_t> quarter_turns) {
  const SinAndCos parts = sin_and_cos(x);
  const Vec<std::uint64_t> quadrant = parts.quadrant + quarter_turns;
  const Vec<double> value = (quadrant & kSin.odd) != 0 ? parts.cos : parts.sin;
  return from_bits<double>(bits_of(value) ^ ((quadrant & kSin.negative) << 62));
}

double tan_of(double x) { return std::tan(x); }
double fmod_of(double a, double b) { return std::fmod(a, b); }

Vec<double> tan_reduced(Vec<double> x) {
  const SinAndCos parts = sin_and_cos(x);
  const Vec<std::uint64_t> odd = parts.quadrant & kSin.odd;
  const Vec<double> quotient = odd != 0 ? parts.cos / parts.sin : parts.sin / parts.cos;
  return from_bits<double>(bits_of(quotient) ^ (odd << 63));
}

Vec<float> sin_or_cos(Vec<float> x, Vec<std::uint64_t> quarter_turns, double (*accurate)(double)) {
  const Vec<float> result =
      by_halves(x, [&](Vec<double> half) { return sin_shifted(half, quarter_turns); });
  return or_each_lane(vec_abs(x) < kLargestReduced, result, accurate, x);
}

// asin(s), where s is the magnitude, or for a large magnitude sqrt((1 - magnitude) / 2), whose
// angle is half the distance to pi / 2.
struct ArcSine {
  MaskBits<float> is_large;
  Vec<float> angle;
};

ArcSine arc_sine(Vec<float> magnitude) {
  const Vec<float> half = detail::Format<float>::kExp.half;
  const MaskBits<float> is_large = magnitude > kArc.asin_border;
  const Vec<float> square = is_large ? half - half * magnitude : magnitude * magnitude;
  const Vec<float> s = is_large ? vec_sqrt(square) : magnitude;
  return {is_large, multiply_add(kArc.asin.at(square) * square, s, s)};
}

Vec<float> asin_of(Vec<float> x) {
  const SignAndMagnitude<float> parts(x);
  const auto [is_large, angle] = arc_sine(parts.magnitude);
  return parts.with(is_large ? kArc.half_pi_high - (angle + angle - kArc.half_pi_low) : angle);
}

Vec<float> acos_of(Vec<float> x) {
  const SignAndMagnitude<float> parts(x);
  const auto [is_large, angle] = arc_sine(parts.magnitude);
  const Vec<float> twice = angle + angle;
  // pi - 2 angle and 2 angle, or pi / 2 - angle with the sign of x.
  const Vec<float> large = x < 0 ? 2 * (kArc.half_pi_high - (angle - kArc.half_pi_low)) : twice;
  return is_large ? large : kArc.half_pi_high - (parts.with(angle) - kArc.half_pi_low);
}

// The angle of a point whose coordinates are not negative.
Vec<float> angle_of(Vec<float> y, Vec<float> x) {
  const MaskBits<float> is_steep = y > x;
  const Vec<float> small = is_steep ? x : y;
  // At least the smallest number, because the angle of the origin is defined as zero.
  const Vec<float> large = detail::at_least<float>(is_steep ? y : x, kArc.smallest);
  const Vec<float> t = small == large ? detail::Format<float>::kExp.one : small / large;
  const Vec<float> square = t * t;
  const Vec<float> angle = multiply_add(kArc.atan.at(square) * square, t, t);
  return is_steep ? kArc.half_pi_high - (angle - kArc.half_pi_low) : angle;
}

Vec<float> atan2_of(Vec<float> y, Vec<float> x) {
  const SignAndMagnitude<float> rise(y);
  const SignAndMagnitude<float> run(x);
  const Vec<float> angle = angle_of(rise.magnitude, run.magnitude);
  const Vec<float> turned = 2 * kArc.half_pi_high - (angle - 2 * kArc.half_pi_low);
  return rise.with(run.sign != 0 ? turned : angle);
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
  // The quotient of exact multiples may still differ from an integer by a rounding error.
  return quotient == 0 ? std::copysign(0.0, a / b) : std::nearbyint(quotient);
}

// A quotient rounded towards zero, and the remainder, which has the sign of the dividend.
struct Quotient {
  Vec<double> whole, rest;
  // Set where the quotient rounded down is one less, because the remainder and the divisor have
  // different signs.
  MaskBits<double> is_above;
};

// Evaluates a word based on a quotient, in double: up to 2^28, a quotient of float32 numbers is
// never rounded up to an integer, and its product with the divisor is exact.
Vec<float> by_quotient(Vec<float> a, Vec<float> b, double (*accurate)(double, double), auto word) {
  constexpr float kLargestExact = 0x1p28F;
  const Vec<float> result = by_halves(a, b, [word](Vec<double> dividend, Vec<double> divisor) {
    const Vec<double> whole = vec_trunc(dividend / divisor);
    const Vec<double> rest = vec_copysign(dividend - whole * divisor, dividend);
    return word(Quotient{whole, rest, (rest != 0) & ((rest < 0) ^ (divisor < 0))}, divisor);
  });
  const auto regular =
      (vec_abs(a / b) < kLargestExact) & (vec_abs(b) < detail::Format<float>::kLog.infinity);
  return or_each_lane(regular, result, accurate, a, b);
}

}  // namespace

Vec<float> vec_sin(Vec<float> x) {
  // The reduction turns -0 into 0.
  return x == 0 ? x : sin_or_cos(x, Vec<std::uint64_t>{}, std::sin);
}
Vec<float> vec_cos(Vec<float> x) { return sin_or_cos(x, kSin.odd, std::cos); }
Vec<double> vec_sin(Vec<double> x) { return each_lane(x, std::sin); }
Vec<double> vec_cos(Vec<double> x) { return each_lane(x, std::cos); }

Vec<float> vec_tan(Vec<float> x) {
  const Vec<float> result = by_halves(x, tan_reduced);
  const auto regular = (vec_abs(x) < kLargestReduced) & (x != 0);
  return or_each_lane(regular, result, tan_of, x);
}
Vec<float> vec_asin(Vec<float> x) { return asin_of(x); }
Vec<float> vec_acos(Vec<float> x) { return acos_of(x); }
Vec<float> vec_atan(Vec<float> x) {
  const SignAndMagnitude<float> parts(x);
  return parts.with(angle_of(parts.magnitude, detail::Format<float>::kExp.one));
}
Vec<float> vec_atan2(Vec<float> y, Vec<float> x) { return atan2_of(y, x); }
Vec<float> vec_hypot(Vec<float> a, Vec<float> b) {
  const Vec<float> infinity = detail::Format<float>::kLog.infinity;
  const Vec<float> length =
      by_halves(a, b, [](Vec<double> p, Vec<double> q) { return vec_sqrt(p * p + q * q); });
  const auto is_infinite = (vec_abs(a) == infinity) | (vec_abs(b) == infinity);
  return is_infinite ? infinity : length;
}
Vec<float> vec_fmod(Vec<float> a, Vec<float> b) {
  return by_quotient(a, b, fmod_of, [](const Quotient& of, Vec<double>) { return of.rest; });
}
Vec<float> vec_remainder(Vec<float> a, Vec<float> b) {
  return by_quotient(a, b, python_remainder, [](const Quotient& of, Vec<double> divisor) {
    return of.is_above ? of.rest + divisor : of.rest;
  });
}
Vec<float> vec_floor_divide(Vec<float> a, Vec<float> b) {
  return by_quotient(a, b, python_floor_divide, [](const Quotient& of, Vec<double>) {
    return of.is_above ? of.whole - kSin.one : of.whole;
  });
}

EG_LANE_WORD_IN_DOUBLE(tan, std::tan)
EG_LANE_WORD_IN_DOUBLE(asin, std::asin)
EG_LANE_WORD_IN_DOUBLE(acos, std::acos)
EG_LANE_WORD_IN_DOUBLE(atan, std::atan)
EG_LANE_BINARY_WORD_IN_DOUBLE(atan2, std::atan2)
EG_LANE_BINARY_WORD_IN_DOUBLE(hypot, std::hypot)
EG_LANE_BINARY_WORD_IN_DOUBLE(fmod, std::fmod)
EG_LANE_BINARY_WORD_IN_DOUBLE(remainder, python_remainder)
EG_LANE_BINARY_WORD_IN_DOUBLE(floor_divide, python_floor_divide)

}  // namespace eg::cpu
