// The error function, the logarithm of the gamma function, its derivatives, and the incomplete
// gamma functions.

#include <array>
#include <cmath>

#include "backend/cpu/vector/pack_math.h"
#include "backend/cpu/vector/vec_kernels.h"
#include "backend/cpu/vector/vec_lanes.h"

namespace eg::cpu {
namespace {

using detail::Format;
using detail::kGamma;

constexpr double kPi = 3.14159265358979323846;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Evaluates the polynomial with the coefficients of x^0, x^1, ...
template <class V, class T, std::size_t kCount>
V polynomial(const std::array<T, kCount>& coefficients, V x) {
  V value = V{} + coefficients.back();
  for (std::size_t k = kCount - 1; k-- > 0;) value = value * x + coefficients[k];
  return value;
}

double lgamma(double x) {
  // std::lgamma writes a global variable and is therefore not thread-safe.
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// exp(x^2), as the product of the exponentials of an exact square (of the upper half of the digits)
// and of the remainder.
double exp_of_square(double x) {
  const double high = static_cast<float>(x);
  return std::exp(high * high) * std::exp((x - high) * (x + high));
}

// exp(x^2) erfc(x).
double erfcx(double x) {
  constexpr double kFractionStart = 2;
  constexpr double kOverflow = -27;
  if (x < kOverflow) return kInfinity;
  if (x < 0) return 2 * exp_of_square(x) - erfcx(-x);
  if (x < kFractionStart) return exp_of_square(x) * std::erfc(x);
  // Laplace's continued fraction. This many levels are sufficient at kFractionStart.
  double fraction = x;
  for (double level = 64; level > 0; --level) fraction = x + level / 2 / fraction;
  return 1 / (std::sqrt(kPi) * fraction);
}

// Returns the number whose error function is `magnitude`; `complement` is 1 - `magnitude`. The
// initial value is Giles' (2012) for central arguments and based on erfc(x) ~ exp(-x^2) / (x
// sqrt(pi)) for the tail. Halley's iteration refines it.
double erfinv_of(double magnitude, double complement) {
  constexpr std::array<double, 9> kCentral{1.50140941,     0.246640727,    -0.00417768164,
                                           -0.00125372503, 0.00021858087,  -4.39150654e-06,
                                           -3.5233877e-06, 3.43273939e-07, 2.81022636e-08};
  constexpr double kCentralEnd = 5;
  if (!(magnitude >= 0 && complement > 0)) return complement == 0 ? kInfinity : kNaN;
  const double w = -std::log(complement * (1 + magnitude));
  const double tail = -std::log(complement);
  double x = w < kCentralEnd ? magnitude * polynomial(kCentral, w - kCentralEnd / 2)
                             : std::sqrt(tail - std::log(kPi * tail) / 2);
  for (int step = 0; step < 2; ++step) {
    // Near 1 the complement is more accurate. The error is multiplied by exp(x^2).
    const double error = magnitude < 0.5 ? (std::erf(x) - magnitude) * std::exp(x * x)
                                         : (complement / std::erfc(x) - 1) * erfcx(x);
    const double newton = error * (std::sqrt(kPi) / 2);
    x -= newton / (1 + x * newton);
  }
  return x;
}

double erfinv(double y) {
  const double magnitude = std::fabs(y);
  return std::copysign(erfinv_of(magnitude, 1 - magnitude), y);
}

double ndtri(double p) {
  const double tail = p < 0.5 ? p : 1 - p;
  const double x = erfinv_of(1 - 2 * tail, 2 * tail) * std::sqrt(2.0);
  return p < 0.5 ? -x : x;
}

// exp(-|x|) times the modified Bessel function of order 0 or 1, for x >= 0.
double scaled_bessel(double order, double x) {
  constexpr double kAsymptotic = 32;
  double sum = 1;
  double term = 1;
  if (x < kAsymptotic) {
    const double quarter = x * x / 4;
    for (double k = 1; term > sum * 1e-17; ++k) sum += term *= quarter / (k * (k + order));
    return sum * std::exp(-x) * (order == 0 ? 1 : x / 2);
  }
  for (double k = 1; k <= 20; ++k) {
    const double odd = 2 * k - 1;
    sum += term *= (odd * odd - 4 * order) / (8 * k * x);
  }
  return sum / std::sqrt(2 * kPi * x);
}

double i0e(double x) { return scaled_bessel(0, std::fabs(x)); }
double i1e(double x) { return std::copysign(scaled_bessel(1, std::fabs(x)), x); }

// Sum over k >= 0 of (q + k)^-s for s > 1 and q > 0: the first terms, then the Euler-Maclaurin
// remainder.
double zeta_of_positive(double s, double q) {
  // Bernoulli numbers B(2j) over (2j)!.
  constexpr std::array<double, 12> kBernoulli{
      8.333333333333333e-02,  -1.388888888888889e-03,  3.306878306878307e-05,
      -8.267195767195768e-07, 2.08767569878681e-08,    -5.284190138687493e-10,
      1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
      -2.174868698558062e-16, 5.5090028283602295e-18,  -1.3954464685812522e-19};
  constexpr double kNegligible = 1e-18;
  const double enough = 10 + s;
  double sum = 0;
  for (; q < enough; q += 1) {
    const double term = std::pow(q, -s);
    sum += term;
    if (term <= sum * kNegligible) return sum;
  }
  double power = std::pow(q, -s);
  sum += power * q / (s - 1) + power / 2;
  double rising = s;
  power /= q;
  for (std::size_t j = 0; j < kBernoulli.size(); ++j) {
    sum += kBernoulli[j] * rising * power;
    const double two_j = 2 * static_cast<double>(j);
    rising *= (s + two_j + 1) * (s + two_j + 2);
    power /= q * q;
  }
  return sum;
}

// The same for any q; at the poles 0, -1, ... it is infinite.
double zeta(double s, double q) {
  if (q > 0 || q != q) return zeta_of_positive(s, q);
  const double rest = q - std::nearbyint(q);
  if (rest == 0) return kInfinity;
  // The sum over all integers depends only on the fractional part. The terms to the left of q are
  // subtracted from it.
  const double sign = std::fmod(s, 2) == 0 ? 1 : -1;
  const double everywhere = std::pow(std::fabs(rest), -s) * (rest < 0 ? sign : 1) +
                            zeta_of_positive(s, 1 + rest) + sign * zeta_of_positive(s, 1 - rest);
  return everywhere - sign * zeta_of_positive(s, 1 - q);
}

// The same for any s. For negative q, the terms are real only if s is an integer.
double zeta_of_any(double s, double q) {
  if (s == 1) return kInfinity;
  if (!(s > 1)) return kNaN;
  if (q == kInfinity) return 0;
  if (q <= 0 && q != std::floor(q) && s != std::floor(s)) return kNaN;
  return zeta(s, q);
}

double digamma(double x) {
  // Bernoulli numbers B(2j) over 2j.
  constexpr std::array<double, 7> kBernoulli{1.0 / 12,  -1.0 / 120,       1.0 / 252, -1.0 / 240,
                                             1.0 / 132, -691.0 / 32760.0, 1.0 / 12};
  constexpr double kEnough = 10;
  if (x == 0) return std::copysign(kInfinity, -x);
  double result = 0;
  if (x < 0) {
    const double rest = x - std::nearbyint(x);
    if (rest == 0 || x == -kInfinity) return kNaN;
    result = -kPi / std::tan(kPi * rest);
    x = 1 - x;
  }
  for (; x < kEnough; x += 1) result -= 1 / x;
  const double z = 1 / (x * x);
  return result + std::log(x) - 0.5 / x - z * polynomial(kBernoulli, z);
}

double polygamma(double order, double x) {
  if (order == 0) return digamma(x);
  constexpr double kLargestFactorial = 170;
  if (!(order > 0 && order <= kLargestFactorial && order == std::floor(order))) return kNaN;
  if (x == kInfinity) return 0;
  double factorial = 1;
  for (double k = 2; k <= order; k += 1) factorial *= k;
  const double sign = std::fmod(order, 2) == 1 ? 1 : -1;
  return sign * factorial * zeta(order + 1, x);
}

// mu - log(1 + mu), accurate near 0; `ratio` is 1 + mu.
double excess_over_log(double mu, double ratio) {
  if (std::fabs(mu) > 0.3) return mu - std::log(ratio);
  // log(1 + mu) is 2 atanh(r), and mu - 2 r is r mu.
  const double r = mu / (2 + mu);
  double sum = 0;
  for (double k = 23; k > 1; k -= 2) sum = sum * (r * r) + 1 / k;
  return r * mu - 2 * r * r * r * sum;
}

// exp(-x) x^a / gamma(a + 1); `exponent` is a * excess_over_log(x / a - 1).
double gamma_power(double a, double x, double exponent) {
  constexpr double kStirling = 20;
  constexpr double kIsZero = 1000;
  if (a < kStirling) {
    if (x > kIsZero) return 0;
    // exp(-x) is applied in two factors, which do not underflow where the power compensates for
    // them.
    const double half = std::exp(-x / 2);
    return half * std::pow(x, a) * half * std::exp(-lgamma(a + 1));
  }
  const double z = 1 / (a * a);
  constexpr std::array<double, 5> kSeries{1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680,
                                          1.0 / 1188};
  return std::exp(-exponent - polynomial(kSeries, z) / a) / std::sqrt(2 * kPi * a);
}

// Temme's expansion for large a and x near a, divided by exp(-a eta^2 / 2). Returns the smaller of
// both parts.
double gamma_tail_near(double a, double eta, bool is_upper) {
  constexpr std::array<double, 9> kFirst{
      -0.3333333333333333,   0.08333333333333333,    -0.014814814814814815,
      0.0011574074074074073, 0.0003527336860670194,  -0.0001787551440329218,
      3.919263178522438e-05, -2.185448510679992e-06, -1.85406221071516e-06};
  constexpr std::array<double, 4> kSecond{-0.001851851851851852, -0.003472222222222222,
                                          0.0026455026455026454, -0.0009902263374485596};
  constexpr double kThird = 0.004133597883597883;
  const double terms = polynomial(kFirst, eta) + (polynomial(kSecond, eta) + kThird / a) / a;
  const double rest = terms / std::sqrt(2 * kPi * a);
  return erfcx(std::fabs(eta) * std::sqrt(a / 2)) / 2 + (is_upper ? rest : -rest);
}

// The sum of x^n / ((a + 1) ... (a + n)) over n >= 0; terms below `end` are negligible compared
// with 1.
double lower_gamma_series(double a, double x, double end) {
  double sum = 1;
  double term = 1;
  for (double n = 1; term > sum * end; ++n) sum += term *= x / (a + n);
  return sum;
}

// The continued fraction of the upper part, divided by exp(-x) x^a / gamma(a), by Lentz's method.
double upper_gamma_fraction(double a, double x, double end) {
  constexpr double kMost = 10000;
  double b = x + 1 - a;
  double c = kInfinity;
  double d = 1 / b;
  double fraction = d;
  for (double n = 1; n < kMost; ++n) {
    const double numerator = n * (a - n);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    fraction *= c * d;
    if (std::fabs(c * d - 1) <= 10 * end) break;
  }
  return fraction;
}

// The upper part for small a and x: 1 - x^a / gamma(a + 1), plus the remaining terms of the series.
double upper_gamma_near_zero(double a, double x) {
  double sum = 0;
  double power = 1;
  for (double n = 1; std::fabs(power) > 1e-18; ++n) {
    power *= -x / n;
    sum += power / (a + n);
  }
  // log(gamma(1 + a)), corrected for the digits of a that 1 + a has lost.
  const double next = 1 + a;
  const double exponent = a * std::log(x) - (lgamma(next) + digamma(next) * (a - (next - 1)));
  return -std::expm1(exponent) - a * std::exp(exponent) * sum;
}

// Relative accuracy of series and continued fractions, for results of either type.
constexpr double kEndForSingle = 1e-10;
constexpr double kEndForDouble = 1e-17;

// The lower or the upper regularised incomplete gamma function.
double gamma_part(double a, double x, bool is_upper, double end) {
  constexpr double kLargeA = 1e5;
  constexpr double kNear = 0.12;
  constexpr double kSmallX = 1.1;
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == kInfinity && x == kInfinity)) return kNaN;
  if (a == 0 || x == kInfinity) return is_upper ? 0 : 1;
  if (x == 0 || a == kInfinity) return is_upper ? 1 : 0;
  const double mu = (x - a) / a;
  const double excess = excess_over_log(mu, x / a);
  const double eta = std::copysign(std::sqrt(2 * excess), mu);
  double part = 0;
  bool has_upper = mu > 0;
  if (a > kLargeA && std::fabs(eta) < kNear) {
    part = std::exp(-a * excess) * gamma_tail_near(a, eta, has_upper);
  } else if (has_upper && x > kSmallX) {
    part = gamma_power(a, x, a * excess) * a * upper_gamma_fraction(a, x, end);
  } else if (is_upper && x <= kSmallX && (x <= 0.5 ? -0.4 / std::log(x) >= a : x * kSmallX >= a)) {
    return upper_gamma_near_zero(a, x);
  } else {
    part = gamma_power(a, x, a * excess) * lower_gamma_series(a, x, end);
    has_upper = false;
  }
  return is_upper == has_upper ? part : 1 - part;
}

Vec<float> gamma_part(Vec<float> a, Vec<float> x, bool is_upper) {
  return map_lanes(a, x, [is_upper](float p, float q) {
    return gamma_part(static_cast<double>(p), static_cast<double>(q), is_upper, kEndForSingle);
  });
}
Vec<double> gamma_part(Vec<double> a, Vec<double> x, bool is_upper) {
  return map_lanes(
      a, x, [is_upper](double p, double q) { return gamma_part(p, q, is_upper, kEndForDouble); });
}

// The rest of this file is for float32: vectors of doubles for the common range of arguments.
// Functions are not inlined into both halves of a vector; the calls cost little compared with their
// bodies.

// x shifted into the range of the asymptotic series, and the t of GammaConstants for the shift.
struct ShiftedGamma {
  MaskBits<double> is_shifted;
  Vec<double> t, slope_of_t, x, inverse;

  explicit ShiftedGamma(Vec<double> given)
      : is_shifted(given < kGamma.enough),
        t(given * (given + kGamma.seven)),
        slope_of_t(given + given + kGamma.seven),
        x(is_shifted ? given + kGamma.eight : given),
        inverse(Format<double>::kExp.one / x) {}
};

[[gnu::noinline]] Vec<double> digamma_of_positive(Vec<double> x) {
  const ShiftedGamma shifted(x);
  const Vec<double> sum =
      shifted.slope_of_t * kGamma.slope.at(shifted.t) / (shifted.t * kGamma.product.at(shifted.t));
  const Vec<double> square = shifted.inverse * shifted.inverse;
  const Vec<double> far = detail::log_of_normal<double>(shifted.x) -
                          Format<double>::kExp.half * shifted.inverse -
                          square * kGamma.digamma.at(square);
  return shifted.is_shifted ? far - sum : far;
}

[[gnu::noinline]] Vec<double> trigamma_of_positive(Vec<double> x) {
  const ShiftedGamma shifted(x);
  const Vec<double> product = shifted.t * kGamma.product.at(shifted.t);
  const Vec<double> slope = kGamma.slope.at(shifted.t);
  const Vec<double> bend = slope * slope - kGamma.curvature.at(shifted.t) * product;
  const Vec<double> sum =
      (shifted.slope_of_t * shifted.slope_of_t * bend - (slope + slope) * product) /
      (product * product);
  const Vec<double> square = shifted.inverse * shifted.inverse;
  const Vec<double> far = multiply_add(
      square, Format<double>::kExp.half,
      multiply_add(square * kGamma.trigamma.at(square), shifted.inverse, shifted.inverse));
  return shifted.is_shifted ? far + sum : far;
}

[[gnu::noinline]] Vec<double> lgamma_of_positive(Vec<double> x) {
  const ShiftedGamma shifted(x);
  const Vec<double> far =
      (shifted.x - Format<double>::kExp.half) * detail::log_of_normal<double>(shifted.x) -
      shifted.x + kGamma.half_log_two_pi +
      shifted.inverse * kGamma.stirling.at(shifted.inverse * shifted.inverse);
  // The product of x, ..., x + 7.
  const Vec<double> product =
      detail::log_of_normal<double>(shifted.t * kGamma.product.at(shifted.t));
  return shifted.is_shifted ? far - product : far;
}

MaskBits<float> is_positive_number(Vec<float> x) {
  return (x > 0) & (x < Format<float>::kLog.infinity);
}

// exp(-x) times a Bessel function for x >= 0. For order 1, the factor x / 2 near zero is left out.
[[gnu::noinline]] Vec<double> scaled_bessel(const detail::BesselConstants& k, Vec<double> x,
                                            Vec<double> factor) {
  const Vec<double> half = x * Format<double>::kExp.half;
  const Vec<double> near_zero = k.near_zero.at(half * half) * factor * detail::exp_for_single(-x);
  const Vec<double> far = k.far.at(Format<double>::kExp.one / x) / vec_sqrt(x);
  return x < kGamma.eight ? near_zero : far;
}

// The inverse of the error function at y; `complement` is 1 - y^2.
[[gnu::noinline]] Vec<double> erfinv_near_zero(Vec<double> y, Vec<double> complement) {
  constexpr double kMiddle = 2.5;
  return y * detail::kErfinv.at(-detail::log_for_single(complement) - kMiddle);
}

// The range in which that is accurate: the complement is at least exp(-5).
constexpr float kErfinvEnd = 0.9966F;

}  // namespace

Vec<float> vec_erf(Vec<float> x) { return detail::erf_of(x); }
Vec<float> vec_erfc(Vec<float> x) { return detail::erfc_of(x); }
Vec<double> vec_erf(Vec<double> x) { return each_lane(x, std::erf); }
Vec<double> vec_erfc(Vec<double> x) { return each_lane(x, std::erfc); }

EG_LANE_WORD(erfcx, erfcx)
EG_LANE_WORD_IN_DOUBLE(lgamma, lgamma)
EG_LANE_WORD_IN_DOUBLE(erfinv, erfinv)
EG_LANE_WORD_IN_DOUBLE(ndtri, ndtri)
EG_LANE_WORD_IN_DOUBLE(digamma, digamma)
EG_LANE_WORD_IN_DOUBLE(i0e, i0e)
EG_LANE_WORD_IN_DOUBLE(i1e, i1e)
EG_LANE_BINARY_WORD_IN_DOUBLE(polygamma, polygamma)

Vec<float> vec_erfinv(Vec<float> x) {
  const Vec<float> result =
      by_halves(x, [](Vec<double> y) { return erfinv_near_zero(y, (1 - y) * (1 + y)); });
  return or_each_lane(vec_abs(x) < kErfinvEnd, result, erfinv, x);
}
Vec<float> vec_ndtri(Vec<float> p) {
  constexpr double kSqrtTwo = 1.41421356237309504880;
  const Vec<float> result = by_halves(
      p, [](Vec<double> q) { return kSqrtTwo * erfinv_near_zero(2 * q - 1, 4 * q * (1 - q)); });
  return or_each_lane(vec_abs(2 * p - 1) < kErfinvEnd, result, ndtri, p);
}
Vec<float> vec_lgamma(Vec<float> x) {
  // Near the zeros at 1 and 2 the difference has too few digits.
  constexpr float kIsZero = 1e-5F;
  const Vec<float> result = by_halves(x, lgamma_of_positive);
  return or_each_lane(is_positive_number(x) & (vec_abs(result) > kIsZero), result, lgamma, x);
}
Vec<float> vec_digamma(Vec<float> x) {
  return or_each_lane(is_positive_number(x), by_halves(x, digamma_of_positive), digamma, x);
}
Vec<float> vec_polygamma(Vec<float> order, Vec<float> x) {
  const auto regular = (order == 1) & is_positive_number(x);
  return or_each_lane(regular, by_halves(x, trigamma_of_positive), polygamma, order, x);
}
Vec<float> vec_i0e(Vec<float> x) {
  return by_halves(vec_abs(x), [](Vec<double> magnitude) {
    return scaled_bessel(detail::kBessel0, magnitude, Format<double>::kExp.one);
  });
}
Vec<float> vec_i1e(Vec<float> x) {
  const detail::SignAndMagnitude<float> parts(x);
  return parts.with(by_halves(parts.magnitude, [](Vec<double> magnitude) {
    return scaled_bessel(detail::kBessel1, magnitude, magnitude * Format<double>::kExp.half);
  }));
}

EG_LANE_BINARY_WORD(zeta, zeta_of_any)
Vec<float> vec_gammainc(Vec<float> a, Vec<float> x) { return gamma_part(a, x, false); }
Vec<double> vec_gammainc(Vec<double> a, Vec<double> x) { return gamma_part(a, x, false); }
Vec<float> vec_gammaincc(Vec<float> a, Vec<float> x) { return gamma_part(a, x, true); }
Vec<double> vec_gammaincc(Vec<double> a, Vec<double> x) { return gamma_part(a, x, true); }

}  // namespace eg::cpu
