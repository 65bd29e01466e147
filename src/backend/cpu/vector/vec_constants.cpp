#include "backend/cpu/vector/vec_constants.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace eg::cpu::detail {
namespace {

constexpr Vec<float> all(float x) { return Vec<float>{x, x, x, x}; }
constexpr Vec<double> all(double x) { return Vec<double>{x, x}; }
constexpr Vec<std::uint32_t> all(std::uint32_t x) { return Vec<std::uint32_t>{x, x, x, x}; }
constexpr Vec<std::uint64_t> all(std::uint64_t x) { return Vec<std::uint64_t>{x, x}; }
constexpr Vec<std::int32_t> all(std::int32_t x) { return Vec<std::int32_t>{x, x, x, x}; }
constexpr Vec<std::int64_t> all(std::int64_t x) { return Vec<std::int64_t>{x, x}; }

template <class... T>
constexpr Series<std::common_type_t<T...>, sizeof...(T)> series(T... coefficients) {
  return {{all(coefficients)...}};
}

template <class T>
constexpr T kLn2 = static_cast<T>(0.69314718055994530942);
template <class T>
constexpr T kLog2E = static_cast<T>(1.4426950408889634074);

/// Adding this rounds to an integer and leaves that integer in the low bits.
template <class T>
constexpr T kRounder = 0;
template <>
constexpr float kRounder<float> = 0x1.8p23F;
template <>
constexpr double kRounder<double> = 0x1.8p52;

template <class T>
constexpr ExpConstants<T> exp_constants(T ln2_high, T ln2_low, Series<T, Format<T>::kExpTerms> tail,
                                        T sigmoid_low) {
  constexpr T kBias = Format<T>::kBias;
  constexpr T kDenormal = Format<T>::kDenormalBits;
  return {
      .log2_e = all(kLog2E<T>),
      .minus_ln2_high = all(-ln2_high),
      .minus_ln2_low = all(-ln2_low),
      .one = all(T{1}),
      .two = all(T{2}),
      .half = all(T{0.5}),
      .tail = tail,
      .to_power = all(kRounder<T> + kBias),
      .to_half_power = all(kRounder<T> + kBias - 1),
      .to_small_power = all(kRounder<T> + kBias - kDenormal),
      .to_two_powers = all(kRounder<T> + 2 * kBias),
      .small = all(1 / static_cast<T>(std::uint64_t{1} << Format<T>::kDenormalBits)),
      // Below this both powers are zero. Masks produce rows of -infinity, and processors take a
      // hundred cycles for a product that underflows.
      .exp_low = all(-2 * kBias * kLn2<T>),
      .exp_high = all((kBias + T(1.4)) * kLn2<T>),
      .exp2_low = all(-2 * kBias),
      .exp2_high = all(kBias + 1),
      .normal_low = all(-kBias * kLn2<T>),
      .expm1_low = all(T{-50}),
      .sigmoid_low = all(sigmoid_low),
      .sigmoid_high = all(T{60}),
      .tanh_high = all(T{20}),
      .sign_bit = all(std::bit_cast<UnsignedBits<T>>(T{-0.0})),
  };
}

template <class T>
constexpr LogConstants<T> log_constants(T ln2_high, T ln2_low,
                                        Series<T, Format<T>::kLogTerms> series) {
  using Limits = std::numeric_limits<T>;
  using Bits = UnsignedBits<T>;
  constexpr int kMantissaBits = Format<T>::kMantissaBits;
  constexpr bool kIsSingle = sizeof(T) == 4;
  constexpr Bits kLowest =
      std::bit_cast<Bits>(static_cast<T>(kIsSingle ? 2.0 / 3 : 0.70710678118654752440));
  constexpr Bits kOffset = kIsSingle ? 0 : Bits{1} << (sizeof(T) * 8 - 2);
  constexpr Bits kFirst = std::bit_cast<Bits>(Limits::min());
  constexpr Bits kSign = Bits{1} << (sizeof(T) * 8 - 1);
  constexpr Bits kEnd = std::bit_cast<Bits>(Limits::infinity());
  constexpr T kExponentOffset = static_cast<T>(kOffset >> kMantissaBits);
  return {
      .smallest_normal = all(Limits::min()),
      .largest = all(Limits::max()),
      .infinity = all(Limits::infinity()),
      .minus_infinity = all(-Limits::infinity()),
      .quiet_nan = all(Limits::quiet_NaN()),
      .denormal_scale = all(static_cast<T>(std::uint64_t{1} << Format<T>::kDenormalBits)),
      .denormal_log = all(Format<T>::kDenormalBits * kLn2<T>),
      .denormal_log2 = all(static_cast<T>(Format<T>::kDenormalBits)),
      .ln2 = all(kLn2<T>),
      .log2_e = all(kLog2E<T>),
      .ln2_high = all(ln2_high),
      .ln2_low = all(ln2_low),
      .exponent_unit = all(kIsSingle ? T{0x1p-23} : T{1}),
      .one = all(T{1}),
      .two = all(T{2}),
      .half = all(T{0.5}),
      .lowest = all(kLowest),
      .lowest_less_offset = all(static_cast<Bits>(kLowest - kOffset)),
      .exponent_mask = all(static_cast<Bits>(~((Bits{1} << kMantissaBits) - 1))),
      .first_normal = all(static_cast<Bits>(kFirst + kSign)),
      .count_of_normal = all(static_cast<SignedBits<T>>(kEnd - kFirst + kSign)),
      .rounder = all(std::bit_cast<Bits>(kRounder<T>)),
      .rounder_and_offset = all(kRounder<T> + kExponentOffset),
      .series = series,
  };
}

// The first part has few digits, so that an exponent times it is exact.
constexpr float kLn2HighSingle = 0x1.63p-1F;
constexpr float kLn2LowSingle = -0x1.bd0106p-13F;
constexpr double kLn2HighDouble = 0x1.62e42feep-1;
constexpr double kLn2LowDouble = 0x1.a39ef35793c76p-33;

/// 1/2!, 1/3!, ...
constexpr auto kInverseFactorials = [] {
  Series<double, Format<double>::kExpTerms> series{};
  double value = 1;
  double divisor = 1;
  for (Vec<double>& term : series.terms) term = all(value /= ++divisor);
  return series;
}();

/// 2/3, 2/5, ...: twice the series of artanh.
constexpr auto kTwoOverOdd = [] {
  Series<double, Format<double>::kLogTerms> series{};
  double odd = 1;
  for (Vec<double>& term : series.terms) term = all(2 / (odd += 2));
  return series;
}();

/// 1 / (k! (k + order)!)
constexpr auto bessel_series(int order) {
  decltype(BesselConstants::near_zero) series{};
  double value = 1;
  double k = 0;
  for (Vec<double>& term : series.terms) {
    term = all(value);
    ++k;
    value /= k * (k + order);
  }
  return series;
}

}  // namespace

// Fitted; the relative error of exp(r) - 1 is 1.4e-8.
constinit const ExpConstants<float> Format<float>::kExp = exp_constants<float>(
    kLn2HighSingle, kLn2LowSingle,
    series(0x1.fffffep-2F, 0x1.5554b4p-3F, 0x1.5556f2p-5F, 0x1.122544p-7F, 0x1.6b9c62p-10F), -104);
constinit const ExpConstants<double> Format<double>::kExp =
    exp_constants<double>(kLn2HighDouble, kLn2LowDouble, kInverseFactorials, -746);

// Fitted; the relative error of exp(r) is 1.9e-8.
constinit const EvenExpConstants kEvenExp{
    .half_log2_e = all(kLog2E<float> / 2),
    .minus_two_ln2_high = all(-2 * kLn2HighSingle),
    .minus_two_ln2_low = all(-2 * kLn2LowSingle),
    .tail = series(0x1.000012p-1F, 0x1.555542p-3F, 0x1.5546aep-5F, 0x1.110f68p-7F, 0x1.72762ep-10F,
                   0x1.a5a414p-13F),
};

// (log(1 + f) - f + f^2 / 2) / f^3 for 2/3 <= 1 + f < 4/3; fitted, the relative error of log(1 + f)
// is 4.7e-9.
constinit const LogConstants<float> Format<float>::kLog =
    log_constants<float>(kLn2<float> * 0x1p-23F, 0,
                         series(0.333332151F, -0.249998003F, 0.20010446F, -0.166803733F,
                                0.140053064F, -0.1218578F, 0.139868975F, -0.128853008F));
constinit const LogConstants<double> Format<double>::kLog =
    log_constants<double>(kLn2HighDouble, kLn2LowDouble, kTwoOverOdd);

// Both parts of erf are from Juffa's erff(). The complement is fitted, with a relative error of
// 1.4e-8; its coefficients are all positive, so that sums have small rounding errors.
constinit const ErfConstants kErf{
    .near_zero = series(1.28379166E-1F, -3.76125336E-1F, 1.12819925E-1F, -2.67681349E-2F,
                        4.99119423E-3F, -5.96761703E-4F),
    .border = all(0.927734375F),
    .far = series(-1.28717512E-1F, -6.34846687E-1F, -1.06777877E-1F, 2.42546219E-2F,
                  -3.88396438E-3F, 3.83197126E-4F, -1.72853470E-5F),
    .far_high = all(4.0F),
    .complement_numerator = {series(1.0F, 0.7294521331787109F, 0.032554466277360916F),
                             series(1.2364542484283447F, 0.2281506061553955F)},
    .complement_denominator = {series(1.0F, 2.397873640060425F, 0.4044133424758911F),
                               series(2.3648338317871094F, 1.3213324546813965F,
                                      0.05770057439804077F)},
    .complement_high = all(10.1F),
    .high_half = all(0xfffff000U),
};

constinit const SinConstants kSin{
    .two_over_pi = all(0.63661977236758134308),
    .rounder = all(kRounder<double>),
    .minus_half_pi_high = all(-1.57079631090164184570),
    .minus_half_pi_low = all(-1.58932547735281966916e-08),
    .one = all(1.0),
    .odd = all(std::uint64_t{1}),
    .negative = all(std::uint64_t{2}),
    .sin = series(-0.166666666416265235595, 0.0083333293858894631756, -0.000198393348360966317347,
                  0.0000027183114939898219064),
    .cos = series(-0.499999997251031003120, 0.0416666233237390631894, -0.00138867637746099294692,
                  0.0000243904487962774090654),
};

constinit const ArcConstants kArc{
    .asin = series(0.166668832F, 0.0748992711F, 0.0461449139F, 0.0208811946F, 0.0476742871F),
    .atan = series(-0.333331525F, 0.199937686F, -0.142110243F, 0.106658928F, -0.0755199343F,
                   0.0432094261F, -0.0163665209F, 0.00292035984F),
    .asin_border = all(0.5405F),
    .smallest = all(std::numeric_limits<float>::denorm_min()),
    .half_pi_high = all(0x1.921fb6p0F),
    .half_pi_low = all(-0x1.777a5cp-25F),
};

constinit const HyperbolicConstants kHyperbolic{
    .sinh = series(0.166667163F, 0.00833027344F, 0.000203729418F),
    .quarter = all(0.25F),
    .high = all(90.0F),
};

constinit const Log10Constants kLog10{
    .log10_2_high = all(0x1.344p-25F),
    .log10_2_low = all(0x1.3509f8p-41F),
    .log10_e = all(0.434294482F),
    .denormal_log10 = all(7.22471990F),
};

constinit const GammaConstants kGamma{
    .product = series(720.0, 252.0, 28.0, 1.0),
    .slope = series(720.0, 504.0, 84.0, 4.0),
    .curvature = series(504.0, 168.0, 12.0),
    .seven = all(7.0),
    .eight = all(8.0),
    .enough = all(10.0),
    .digamma =
        series(1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12),
    .trigamma = series(1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66),
    .stirling = series(1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360),
    .half_log_two_pi = all(0.91893853320467274178),
};

// The parts far from zero and kErfinv are fitted, with relative errors of 1.4e-9 and 5.5e-9.
constinit const BesselConstants kBessel0{
    .near_zero = bessel_series(0),
    .far =
        series(0.39894228092917688, 0.049867411549702728, 0.028095277568153908,
               0.027238702457366277, 0.085283646477007563, -0.30661251291081654, 1.830039973955446),
};
constinit const BesselConstants kBessel1{
    .near_zero = bessel_series(1),
    .far = series(0.39894227978387758, -0.14960292224107563, -0.046802382084052345,
                  -0.038644658239229752, -0.10359197139560124, 0.3387911675404312,
                  -2.0788952445065618),
};

constinit const Series<double, 10> kErfinv =
    series(1.5014093591803148, 0.24664028614288086, -0.004177386406178105, -0.0012527416990153301,
           0.00021834417283453397, -4.9634896402852965e-06, -3.4626403150125161e-06,
           4.6620484897579772e-07, 2.3227656743467953e-08, -8.7936336060084909e-09);

}  // namespace eg::cpu::detail
