// markers: variant, no-device

// The vocabulary on vectors: accuracy, behavior at the ends of the range, and integers.

#include "backend/cpu/vector/pack_math.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/vector/inline_words.h"
#include "support/special_values.h"

namespace eg::cpu {
namespace {

using testing::kInfinity;
using testing::kNaN;

template <class T>
using Unary = Vec<T> (*)(Vec<T>);
template <class T>
using Binary = Vec<T> (*)(Vec<T>, Vec<T>);

/// A word of the vocabulary and the C library function that it corresponds to.
struct Word {
  std::string name;
  Unary<float> single;
  Unary<double> exact;
  double (*reference)(double);
  double limit = 5;  ///< in units in the last place of float32
};

std::vector<Word> words() {
#define EG_LIKE_STD(word) {#word, vec_##word, vec_##word, std::word}
#define EG_BETTER(word, limit) {#word, vec_##word, vec_##word, std::word, limit}
  return {
      EG_BETTER(exp, 2),
      EG_BETTER(exp2, 2),
      EG_BETTER(expm1, 2),
      EG_BETTER(log, 2),
      EG_BETTER(log2, 2),
      EG_BETTER(log10, 2),
      EG_BETTER(log1p, 2),
      EG_LIKE_STD(sin),
      EG_LIKE_STD(cos),
      EG_BETTER(tan, 2),
      EG_BETTER(asin, 2),
      EG_BETTER(acos, 2),
      EG_BETTER(atan, 2),
      EG_BETTER(sinh, 2),
      EG_BETTER(cosh, 2),
      EG_BETTER(tanh, 2.5),
      EG_BETTER(asinh, 2),
      // Emscripten's C library returns numbers below one, where the result is NaN.
      {"acosh", vec_acosh, vec_acosh, [](double x) { return x < 1 ? kNaN : std::acosh(x); }, 2},
      EG_BETTER(atanh, 2),
      EG_BETTER(erf, 2),
      EG_LIKE_STD(erfc),
      {"sigmoid", vec_sigmoid, vec_sigmoid,
       [](double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); },
       2.5}};
#undef EG_BETTER
#undef EG_LIKE_STD
}

class Words : public ::testing::TestWithParam<Word> {};

/// The distance in units in the last place of float32; 0 for equal numbers and for two NaNs.
double ulps(double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0;
  if (std::isnan(actual) || std::isnan(expected)) return kInfinity;
  if (!std::isfinite(actual) || !std::isfinite(expected)) {
    if (std::signbit(actual) != std::signbit(expected)) return kInfinity;
    // Either side of the largest float32 is one unit away from it.
    const double largest = std::numeric_limits<float>::max();
    return std::min(std::abs(actual), std::abs(expected)) >= largest * (1 - 1e-6) ? 1 : kInfinity;
  }
  constexpr int kSmallestExponent = -149;
  const int exponent =
      expected == 0 ? kSmallestExponent : std::max(std::ilogb(expected) - 23, kSmallestExponent);
  return std::abs(actual - expected) / std::ldexp(1.0, exponent);
}

TEST_P(Words, AreGoodToSomeUnitsInTheLastPlaceEverywhere) {
  // Every 2^32 / 160,000-th float32: all signs and exponents, including NaN and infinity.
  constexpr std::uint64_t kStride = 26'839;
  for (std::uint64_t bits = 0; bits < 1ULL << 32; bits += 4 * kStride) {
    Vec<float> x{};
    for (std::size_t i = 0; i < 4; ++i)
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits + i * kStride));
    const Vec<float> y = GetParam().single(x);
    for (std::size_t i = 0; i < 4; ++i) {
      const double expected = GetParam().reference(static_cast<double>(x[i]));
      ASSERT_LE(ulps(static_cast<double>(y[i]), expected), GetParam().limit)
          << GetParam().name << '(' << x[i] << ") = " << y[i];
    }
  }
}

TEST_P(Words, AreGoodTo15DigitsInFloat64) {
  std::mt19937_64 random(3);
  for (int n = 0; n < 40'000; ++n) {
    const double uniform = std::uniform_real_distribution<double>(-20, 20)(random);
    const double x = n % 2 == 0   ? std::bit_cast<double>(random())
                     : n % 4 == 1 ? uniform
                                  : uniform / 20;
    const double y = GetParam().exact(Vec<double>{x, x})[0];
    const double expected = GetParam().reference(x);
    if (std::isfinite(expected)) {
      ASSERT_NEAR(y, expected, 1.5e-15 * std::abs(expected) + 1e-320)
          << GetParam().name << '(' << x << ')';
    } else {
      ASSERT_EQ(ulps(y, expected), 0) << GetParam().name << '(' << x << ')';
    }
  }
}

TEST_P(Words, AgreeWithTheLibraryAtTheEnds) {
  for (const double x : {0.0, -0.0, 1.0, -1.0, kInfinity, -kInfinity, kNaN, 0x1p100, -0x1p100}) {
    const double expected = GetParam().reference(x);
    const double single = static_cast<double>(GetParam().single(splat(static_cast<float>(x)))[3]);
    const double exact = GetParam().exact(splat(x))[1];
    EXPECT_LE(ulps(single, static_cast<double>(static_cast<float>(expected))), 5) << x;
    EXPECT_LE(ulps(exact, expected), 1) << x;
  }
}

TEST_P(Words, DoNotLookAtNeighbors) {
  const std::vector<float> values{
      0.5F, -0.75F, 1e9F, -2.0F, 0.0F, std::numeric_limits<float>::infinity(), 3e-41F, 7.0F};
  for (std::size_t i = 0; i + 4 <= values.size(); ++i) {
    const Vec<float> mixed{values[i], values[i + 1], values[i + 2], values[i + 3]};
    const Vec<float> together = GetParam().single(mixed);
    for (std::size_t j = 0; j < 4; ++j) {
      const float alone = GetParam().single(splat(values[i + j]))[0];
      EXPECT_TRUE(together[j] == alone || (std::isnan(alone) && std::isnan(together[j])))
          << values[i + j];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Vector, Words, ::testing::ValuesIn(words()),
                         [](const auto& test) { return test.param.name; });

/// A word compiled as a call and as part of a kernel.
struct TwoForms {
  const char* name;
  Unary<float> called;
  Unary<float> inlined;
};

// An op's value must not depend on which of its kernels was compiled with calls.
TEST(PackMath, WordsAreTheSameInKernelsAndAsCalls) {
#define EG_FORMS(word) {#word, vec_##word, inlined::vec_##word}
  const std::array<TwoForms, 6> words{{EG_FORMS(exp), EG_FORMS(log), EG_FORMS(sigmoid),
                                       EG_FORMS(tanh), EG_FORMS(erf), EG_FORMS(erfc)}};
#undef EG_FORMS
  constexpr std::uint32_t kStride = 104'729;
  for (const TwoForms& word : words) {
    for (std::uint64_t bits = 0; bits < 1ULL << 32; bits += kStride) {
      const Vec<float> x = splat(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
      const float called = word.called(x)[0];
      const float inlined = word.inlined(x)[0];
      ASSERT_TRUE(called == inlined || (std::isnan(called) && std::isnan(inlined)))
          << word.name << '(' << x[0] << ')';
    }
  }
}

TEST(PackMath, LogarithmsOfOrdinaryNumbersBesideOthers) {
  const float denormal = std::numeric_limits<float>::denorm_min();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Unary<float> log : {Unary<float>(vec_log), Unary<float>(vec_log2)}) {
    for (const float other : {0.0F, -0.0F, -1.0F, denormal, infinity, std::nanf("")}) {
      for (int place = 0; place < 4; ++place) {
        Vec<float> x = splat(0.3F);
        x[place] = other;
        const Vec<float> together = log(x);
        for (int i = 0; i < 4; ++i) {
          const float alone = log(splat(x[i]))[0];
          EXPECT_TRUE(together[i] == alone || (std::isnan(alone) && std::isnan(together[i])))
              << other;
        }
      }
    }
  }
}

TEST(PackMath, RoundsAndSigns) {
  const auto lanes = [](Vec<float> v) { return std::vector<float>{v[0], v[1], v[2], v[3]}; };
  const Vec<float> x{-2.5F, -0.5F, 0.5F, 3.5F};
  EXPECT_EQ(lanes(vec_round(x)), (std::vector<float>{-2, 0, 0, 4}));
  EXPECT_EQ(lanes(vec_floor(x)), (std::vector<float>{-3, -1, 0, 3}));
  EXPECT_EQ(lanes(vec_ceil(x)), (std::vector<float>{-2, 0, 1, 4}));
  EXPECT_EQ(lanes(vec_trunc(x)), (std::vector<float>{-2, 0, 0, 3}));
  EXPECT_EQ(lanes(vec_sign(Vec<float>{-3, 0, 2, std::nanf("")})),
            (std::vector<float>{-1, 0, 1, 0}));
  EXPECT_EQ(lanes(vec_abs(x)), (std::vector<float>{2.5F, 0.5F, 0.5F, 3.5F}));
  EXPECT_TRUE(std::signbit(vec_copysign(Vec<float>{} + 1, -Vec<float>{})[0]));
  EXPECT_TRUE(std::signbit(vec_sin(-Vec<float>{})[0]));
  EXPECT_TRUE(std::signbit(splat(-0.0)[0]));
}

TEST(PackMath, MaximumHandsNaNOnAndFmaxPrefersTheNumber) {
  const Vec<double> number{2, 2};
  const Vec<double> nan{kNaN, kNaN};
  for (const Binary<double> word : {vec_maximum<Vec<double>>, vec_minimum<Vec<double>>}) {
    EXPECT_TRUE(std::isnan(word(number, nan)[0]));
    EXPECT_TRUE(std::isnan(word(nan, number)[0]));
  }
  for (const Binary<double> word : {vec_fmax<Vec<double>>, vec_fmin<Vec<double>>}) {
    EXPECT_EQ(word(number, nan)[0], 2);
    EXPECT_EQ(word(nan, number)[0], 2);
    EXPECT_TRUE(std::isnan(word(nan, nan)[0]));
  }
}

TEST(PackMath, PowIsTheLibrarysAtEveryCorner) {
  const std::vector<double> corners{0.0,  -0.0,  0.5,   -0.5,      1,          -1,
                                    2,    -2,    3,     -3,        4,          7,
                                    1e30, -1e30, 1e-30, kInfinity, -kInfinity, kNaN};
  for (const double base : corners) {
    for (const double exponent : corners) {
      const double expected = std::pow(base, exponent);
      const double single =
          static_cast<double>(vec_pow(Vec<float>{2, static_cast<float>(base), 3, 4},
                                      Vec<float>{1.5F, static_cast<float>(exponent), 2, 0.5F})[1]);
      const double reference = static_cast<double>(
          static_cast<float>(std::pow(static_cast<double>(static_cast<float>(base)),
                                      static_cast<double>(static_cast<float>(exponent)))));
      EXPECT_LE(ulps(vec_pow(splat(base), splat(exponent))[0], expected), 1)
          << base << " ** " << exponent;
      EXPECT_LE(ulps(single, reference), 2) << base << " ** " << exponent;
    }
  }
}

TEST(PackMath, SpecialFunctionsAtTheirPoles) {
  const auto at = [](Unary<double> word, double x) { return word(splat(x))[0]; };
  EXPECT_EQ(at(vec_erfinv, 1), kInfinity);
  EXPECT_EQ(at(vec_erfinv, -1), -kInfinity);
  EXPECT_TRUE(std::isnan(at(vec_erfinv, 1.5)));
  // erfc(5.8635847487551678) is 2^-53.
  EXPECT_NEAR(at(vec_erfinv, 1 - 0x1p-53), 5.8635847487551678, 1e-14);
  EXPECT_EQ(at(vec_lgamma, 0), kInfinity);
  EXPECT_EQ(at(vec_lgamma, -3), kInfinity);
  EXPECT_EQ(at(vec_digamma, 0), -kInfinity);
  EXPECT_EQ(at(vec_digamma, -0.0), kInfinity);
  EXPECT_TRUE(std::isnan(at(vec_digamma, -2)));
  EXPECT_EQ(at(vec_digamma, kInfinity), kInfinity);
  const auto polygamma = [](double n, double x) { return vec_polygamma(splat(n), splat(x))[0]; };
  EXPECT_EQ(polygamma(1, -2), kInfinity);
  EXPECT_EQ(polygamma(1, kInfinity), 0);
  EXPECT_TRUE(std::isnan(polygamma(1.5, 2)));
  EXPECT_TRUE(std::isnan(polygamma(-1, 2)));
  EXPECT_TRUE(std::isnan(polygamma(1, kNaN)));
}

/// A word whose float32 form is compared with its float64 form.
struct Special {
  const char* name;
  Unary<float> single;
  Unary<double> exact;
};

TEST(PackMath, SpecialFunctionsInFloat32AreThoseOfFloat64) {
#define EG_SPECIAL(word) {#word, vec_##word, vec_##word}
  const std::array<Special, 7> words{
      {EG_SPECIAL(erfinv),
       EG_SPECIAL(ndtri),
       EG_SPECIAL(lgamma),
       EG_SPECIAL(digamma),
       EG_SPECIAL(i0e),
       EG_SPECIAL(i1e),
       {"trigamma", [](Vec<float> x) { return vec_polygamma(splat(1.0F), x); },
        [](Vec<double> x) { return vec_polygamma(splat(1.0), x); }}}};
#undef EG_SPECIAL
  constexpr std::uint32_t kStride = 1'048'573;
  for (const Special& word : words) {
    const auto check = [&word](float x) {
      // Its neighbors take the other branch, if there are two.
      const float single = word.single(Vec<float>{0.5F, x, -0.9999F, 30})[1];
      const double exact = word.exact(splat(static_cast<double>(x)))[0];
      ASSERT_LE(ulps(static_cast<double>(single), exact), 1.001) << word.name << '(' << x << ')';
      if (exact == 0) {
        ASSERT_EQ(std::signbit(single), std::signbit(exact)) << word.name << x;
      }
    };
    for (std::uint64_t bits = 0; bits < 1ULL << 32; bits += kStride)
      check(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    for (int n = -1200; n <= 1200; ++n) check(static_cast<float>(n) / 100);
    for (int n = 0; n <= 1000; ++n) check(static_cast<float>(n) / 1000);
  }
}

TEST(PackMath, FunctionsOfTwoNumbersInFloat32AreThoseOfFloat64) {
  struct Pair {
    const char* name;
    Binary<float> single;
    Binary<double> exact;
    double limit;
  };
#define EG_PAIR(word, limit) {#word, vec_##word, vec_##word, limit}
  // An exact remainder is a float32; the other two round once more.
  const std::array<Pair, 5> words{{EG_PAIR(atan2, 2), EG_PAIR(hypot, 1), EG_PAIR(fmod, 0),
                                   EG_PAIR(remainder, 1), EG_PAIR(floor_divide, 1)}};
#undef EG_PAIR
  constexpr float kEnd = std::numeric_limits<float>::infinity();
  constexpr float kLargest = std::numeric_limits<float>::max();
  constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
  std::vector<float> numbers{0.0F,          -0.0F,    1.0F,      -1.0F,     kEnd,       -kEnd,
                             std::nanf(""), kLargest, -kLargest, kSmallest, -kSmallest, 0.6F,
                             -0.6F,         0.2F,     3.0F,      -7.5F};
  std::mt19937 random(5);
  for (int n = 0; n < 200; ++n)
    numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  for (int n = 0; n < 200; ++n)
    numbers.push_back(std::uniform_real_distribution<float>(-9, 9)(random));
  for (const Pair& word : words) {
    for (const float a : numbers) {
      for (const float b : numbers) {
        const double single =
            static_cast<double>(word.single(Vec<float>{5, 1e30F, a, 1}, Vec<float>{3, 1, b, 0})[2]);
        const double exact =
            word.exact(splat(static_cast<double>(a)), splat(static_cast<double>(b)))[0];
        ASSERT_LE(ulps(single, exact), word.limit) << word.name << '(' << a << ", " << b << ')';
        if (!std::isnan(exact)) {
          ASSERT_EQ(std::signbit(single), std::signbit(exact)) << word.name << a << ", " << b;
        }
      }
    }
  }
}

TEST(PackMath, DecimalLogarithmsOfPowersOfTenAreWhole) {
  for (int n = -37; n <= 38; ++n)
    EXPECT_EQ(vec_log10(splat(static_cast<float>(std::pow(10.0, n))))[0], static_cast<float>(n));
}

// There Emscripten's C library takes the logarithm of a rounding error.
TEST(PackMath, AcoshBelowOneIsNaN) {
  for (const double x : {0.999, 0.0, -1.0, -2.0, -584339.5625, -62666512.0, -1e300, -kInfinity})
    EXPECT_TRUE(std::isnan(vec_acosh(splat(x))[0])) << x;
}

TEST(PackMath, DivisionByZeroAndInfinityInFloats) {
  const auto remainder = [](double a, double b) { return vec_remainder(splat(a), splat(b))[0]; };
  const auto floor_divide = [](double a, double b) {
    return vec_floor_divide(splat(a), splat(b))[0];
  };
  EXPECT_TRUE(std::isnan(remainder(1, 0)));
  EXPECT_EQ(remainder(-1, kInfinity), kInfinity);
  EXPECT_EQ(floor_divide(1, 0), kInfinity);
  EXPECT_TRUE(std::isnan(floor_divide(0, 0)));
  EXPECT_EQ(floor_divide(-1, kInfinity), -1);
  EXPECT_EQ(floor_divide(0.6, 0.2), 2);
}

template <class T>
class Integers : public ::testing::Test {
 protected:
  using Result = T;
  static T apply(Binary<T> word, T a, T b) { return word(splat(a), splat(b))[0]; }
  static constexpr T kMin = std::numeric_limits<T>::min();
  static constexpr T kMax = std::numeric_limits<T>::max();
};
using IntegerTypes = ::testing::Types<std::int32_t, std::int64_t, std::uint8_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

TYPED_TEST(Integers, DivideWithoutTraps) {
  using V = Vec<TypeParam>;
  EXPECT_EQ(this->apply(vec_floor_divide<V>, 7, 2), 3);
  EXPECT_EQ(this->apply(vec_fmod<V>, 7, 4), 3);
  EXPECT_EQ(this->apply(vec_remainder<V>, 7, 4), 3);
  for (const Binary<TypeParam> word : {vec_floor_divide<V>, vec_fmod<V>, vec_remainder<V>}) {
    EXPECT_EQ(this->apply(word, 7, 0), 0);
  }
  if constexpr (std::is_signed_v<TypeParam>) {
    EXPECT_EQ(this->apply(vec_floor_divide<V>, -7, 2), -4);
    EXPECT_EQ(this->apply(vec_floor_divide<V>, 7, -2), -4);
    EXPECT_EQ(this->apply(vec_floor_divide<V>, -8, 2), -4);
    EXPECT_EQ(this->apply(vec_fmod<V>, -7, 4), -3);
    EXPECT_EQ(this->apply(vec_remainder<V>, -7, 4), 1);
    EXPECT_EQ(this->apply(vec_remainder<V>, 7, -4), -1);
    EXPECT_EQ(this->apply(vec_floor_divide<V>, this->kMin, -1), this->kMin);
    EXPECT_EQ(this->apply(vec_fmod<V>, this->kMin, -1), 0);
    EXPECT_EQ(this->apply(vec_remainder<V>, this->kMin, -1), 0);
  }
}

TYPED_TEST(Integers, WrapAround) {
  using V = Vec<TypeParam>;
  EXPECT_EQ(this->apply(vec_add<V>, this->kMax, 1), this->kMin);
  EXPECT_EQ(this->apply(vec_sub<V>, this->kMin, 1), this->kMax);
  EXPECT_EQ(this->apply(vec_mul<V>, this->kMax, 2), static_cast<TypeParam>(-2));
  EXPECT_EQ(this->apply(vec_pow<V>, 2, 200), 0);
  EXPECT_EQ(vec_neg(splat(this->kMin))[0], this->kMin);
  EXPECT_EQ(vec_abs(splat(this->kMin))[0], this->kMin);
}

TYPED_TEST(Integers, PowersAndSigns) {
  using V = Vec<TypeParam>;
  EXPECT_EQ(this->apply(vec_pow<V>, 3, 4), 81);
  EXPECT_EQ(this->apply(vec_pow<V>, 0, 0), 1);
  EXPECT_EQ(vec_sign(splat<TypeParam>(7))[0], 1);
  EXPECT_EQ(vec_sign(splat<TypeParam>(0))[0], 0);
  EXPECT_EQ(this->apply(vec_maximum<V>, 3, 4), 4);
  EXPECT_EQ(this->apply(vec_minimum<V>, 3, 4), 3);
  EXPECT_EQ(vec_round(splat<TypeParam>(3))[0], 3);
  if constexpr (std::is_signed_v<TypeParam>) {
    EXPECT_EQ(this->apply(vec_pow<V>, 2, -1), 0);
    EXPECT_EQ(this->apply(vec_pow<V>, 1, -3), 1);
    EXPECT_EQ(this->apply(vec_pow<V>, -1, -3), -1);
    EXPECT_EQ(this->apply(vec_pow<V>, -1, -2), 1);
    EXPECT_EQ(vec_sign(splat<TypeParam>(-7))[0], -1);
    EXPECT_EQ(vec_abs(splat<TypeParam>(-7))[0], 7);
  }
}

TYPED_TEST(Integers, TakeTheNearestNumberOfTheirRange) {
  EXPECT_EQ(lane_from<TypeParam>(kInfinity), this->kMax);
  EXPECT_EQ(lane_from<TypeParam>(-kInfinity), this->kMin);
  EXPECT_EQ(lane_from<TypeParam>(1e300), this->kMax);
  EXPECT_EQ(lane_from<TypeParam>(kNaN), 0);
  EXPECT_EQ(lane_from<TypeParam>(2.75), 2);
}

TEST(LaneFrom, KeepsInfinityButLimitsFiniteNumbersToFloat32) {
  EXPECT_EQ(lane_from<float>(kInfinity), std::numeric_limits<float>::infinity());
  EXPECT_EQ(lane_from<float>(1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(lane_from<float>(-1e300), std::numeric_limits<float>::lowest());
  EXPECT_TRUE(std::isnan(lane_from<float>(kNaN)));
  EXPECT_EQ(lane_from<double>(1e300), 1e300);
}

}  // namespace
}  // namespace eg::cpu
