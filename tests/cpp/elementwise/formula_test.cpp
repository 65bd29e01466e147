// markers: variant, no-device

// Laws of the formulas in formulas/*.h, checked for every op on plain numbers: gradients are the
// derivatives of values, also where two pieces meet, and float32 and float64 agree.

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "backend/cpu/vector/pack.h"
#include "formulas/all.h"
#include "support/formulas.h"
#include "support/special_values.h"

namespace eg {
namespace {

using testing::Formula;
using testing::formula;
using testing::formulas;
using testing::Numbers;

using testing::kInfinity;
using testing::kNaN;

class Formulas : public ::testing::TestWithParam<const Formula*> {
 protected:
  const Formula& op() const { return *GetParam(); }

  // A point of the domain, or of [-4, 4] for the pieces the domain leaves out.
  Numbers sample(bool in_domain) {
    Numbers x;
    for (const op::Domain& domain : op().domains) {
      const bool narrow = in_domain || domain.low == domain.high;
      const double low = narrow ? domain.low : -4;
      const double high = narrow ? domain.high : 4;
      x.push_back(low + (high - low) * std::uniform_real_distribution<double>(0, 1)(random_));
    }
    return x;
  }

  std::mt19937 random_{11};
};

struct Differences {
  double slope;
  bool smooth;
};

// The slope of f at x[i]. Not smooth: a kink or a jump is near, or f is not finite here.
template <class Function>
Differences differences(const Function& f, Numbers x, std::size_t i) {
  constexpr double kStep = 1e-4;
  const double at = x[i];
  const auto value = [&](double offset) {
    x[i] = at + offset;
    return f(x);
  };
  const double coarse = (value(2 * kStep) - value(-2 * kStep)) / (4 * kStep);
  const double fine = (value(kStep) - value(-kStep)) / (2 * kStep);
  const double right = (value(kStep) - value(0)) / kStep;
  const double left = (value(0) - value(-kStep)) / kStep;
  const double tolerance = 0.02 * (1 + std::abs(fine));
  const bool smooth = std::abs(right - left) < tolerance && std::abs(coarse - fine) < tolerance;
  return {(4 * fine - coarse) / 3, smooth};
}

void expect_close(double actual, double expected, double tolerance, const Numbers& x) {
  EXPECT_NEAR(actual, expected, tolerance * (1 + std::abs(expected)))
      << "at " << ::testing::PrintToString(x);
}

TEST_P(Formulas, HaveANameAndASentence) {
  EXPECT_EQ(op().name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
            std::string::npos);
  EXPECT_EQ(op().text.ends_with('.'), op::kKeepsSentences);
  EXPECT_EQ(std::count_if(formulas().begin(), formulas().end(),
                          [&](const Formula& other) { return other.name == op().name; }),
            1);
}

TEST_P(Formulas, GradientIsTheDerivativeOfTheValue) {
  for (const Numbers& params : testing::param_choices(op())) {
    for (int n = 0; n < 200; ++n) {
      const bool in_domain = n % 2 == 0;
      const Numbers x = sample(in_domain);
      for (std::size_t i = 0; i < op().arity; ++i) {
        if (!op().has_gradient[i]) continue;
        const auto value = [&](const Numbers& at) { return op().forward(at, params); };
        const Differences expected = differences(value, x, i);
        if (in_domain && params == op().default_params) {
          ASSERT_TRUE(expected.smooth)
              << "the domain has a kink at " << ::testing::PrintToString(x);
        }
        if (expected.smooth) {
          expect_close(op().gradient[i](1.5, x, params), 1.5 * expected.slope, 1e-6, x);
        }
      }
    }
  }
}

TEST_P(Formulas, SecondDerivativeIsTheDerivativeOfTheGradient) {
  for (const Numbers& params : testing::param_choices(op())) {
    for (int n = 0; n < 100; ++n) {
      const Numbers x = sample(n % 2 == 0);
      for (std::size_t i = 0; i < op().arity; ++i) {
        if (!op().has_gradient[i]) continue;
        const Numbers slopes = op().second[i](1.5, x, params);
        const double gradient = op().gradient[i](1.0, x, params);
        if (std::isfinite(gradient)) expect_close(slopes[0], gradient, 1e-12, x);
        for (std::size_t j = 0; j < op().arity; ++j) {
          if (!op().has_gradient[j]) continue;
          const auto value = [&](const Numbers& at) { return op().gradient[i](1.5, at, params); };
          const Differences expected = differences(value, x, j);
          if (expected.smooth) expect_close(slopes[j + 1], expected.slope, 1e-5, x);
        }
      }
    }
  }
}

TEST_P(Formulas, GradientIsLinear) {
  for (int n = 0; n < 20; ++n) {
    const Numbers x = sample(n % 2 == 0);
    for (std::size_t i = 0; i < op().arity; ++i) {
      if (!op().has_gradient[i]) continue;
      const double unit = op().gradient[i](1, x, op().default_params);
      if (!std::isfinite(unit)) continue;
      EXPECT_EQ(op().gradient[i](-4, x, op().default_params), -4 * unit);
      EXPECT_EQ(op().gradient[i](0, x, op().default_params), 0);
    }
  }
}

TEST_P(Formulas, Float32AgreesWithFloat64) {
  if (op().dtype_rule == op::DTypeRule::kInteger) return;
  const auto agree = [](double single, double exact, const Numbers& x) {
    constexpr double kOverflow = 1e36;
    if (std::isnan(exact)) return std::isnan(single);
    if (!(std::abs(exact) < kOverflow)) return !(std::abs(single) < kOverflow / 2);
    double scale = std::max(std::abs(exact), std::abs(x[0]));
    for (const double v : x) scale = std::max(scale, std::min(std::abs(v), 1.0));
    return std::abs(single - exact) <= 4e-6 * scale;
  };
  const bool is_step = op().name == "fmod" || op().name == "remainder" || op().name == "polygamma";
  for (const Numbers& params : testing::param_choices(op())) {
    for (int n = 0; n < 3000; ++n) {
      Numbers x = sample(is_step || n % 3 == 0);
      if (n % 3 == 2 && !is_step) {
        // Every magnitude from tiny to huge.
        for (double& v : x) v = std::copysign(std::exp(v * 8), v);
      }
      for (double& v : x) v = static_cast<float>(v);
      Numbers rounded = params;
      for (double& v : rounded) v = std::isfinite(v) ? static_cast<float>(v) : v;
      const double exact = op().forward(x, rounded);
      const double single = op().forward32(x, rounded);
      EXPECT_PRED3(agree, single, exact, x) << op().name;
    }
  }
}

TEST_P(Formulas, Float32GradientAgreesWithFloat64) {
  for (const Numbers& params : testing::param_choices(op())) {
    for (int n = 0; n < 200; ++n) {
      Numbers x = sample(true);
      for (double& v : x) v = static_cast<float>(v);
      for (std::size_t i = 0; i < op().arity; ++i) {
        if (!op().has_gradient[i]) continue;
        expect_close(op().gradient32[i](1.5, x, params), op().gradient[i](1.5, x, params), 1e-5, x);
      }
    }
  }
}

TEST_P(Formulas, NaNStaysNaN) {
  const std::set<std::string> answers{"sign", "sgn", "nan_to_num", "fmax", "fmin", "heaviside"};
  if (op().dtype_rule == op::DTypeRule::kBool || answers.contains(op().name)) return;
  // No integer is NaN.
  if (op().dtype_rule == op::DTypeRule::kInteger) return;
  for (std::size_t i = 0; i < op().arity; ++i) {
    // The mask that selects is not NaN.
    if (op().name == "where" || op().name == "masked_fill") continue;
    // copysign only reads the sign of its second operand, which a NaN has too.
    if (op().name == "copysign" && i == 1) continue;
    Numbers x = sample(true);
    x[i] = kNaN;
    EXPECT_TRUE(std::isnan(op().forward(x, op().default_params))) << "operand " << i;
    EXPECT_TRUE(std::isnan(op().forward32(x, op().default_params))) << "operand " << i;
  }
}

std::vector<const Formula*> all_formulas() {
  std::vector<const Formula*> all;
  for (const Formula& f : formulas()) all.push_back(&f);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Elementwise, Formulas, ::testing::ValuesIn(all_formulas()),
                         [](const auto& test) { return test.param->name; });

/// The gradients at a point, by operand, for an incoming gradient of 1.
Numbers gradients_at(std::string_view name, const Numbers& x, Numbers params = {}) {
  const Formula& f = formula(name);
  if (params.empty()) params = f.default_params;
  params.resize(op::kMaxParams);
  Numbers result;
  for (std::size_t i = 0; i < f.arity; ++i) {
    if (f.has_gradient[i]) result.push_back(f.gradient[i](1, x, params));
  }
  return result;
}

TEST(FormulaKinks, StepsHaveNoSlope) {
  for (const char* name : {"abs", "sign", "sgn", "floor", "ceil", "round", "trunc"}) {
    EXPECT_EQ(gradients_at(name, {0}), Numbers{0}) << name;
  }
  for (const char* name : {"floor", "ceil", "round", "trunc"}) {
    EXPECT_EQ(gradients_at(name, {2.5}), Numbers{0}) << name;
  }
  EXPECT_EQ(gradients_at("frac", {2}), Numbers{1});
}

TEST(FormulaKinks, ActivationsTakePyTorchsSide) {
  EXPECT_EQ(gradients_at("relu", {0}), Numbers{0});
  EXPECT_EQ(gradients_at("relu6", {0}), Numbers{0});
  EXPECT_EQ(gradients_at("relu6", {6}), Numbers{0});
  EXPECT_EQ(gradients_at("hardtanh", {-1}), Numbers{0});
  EXPECT_EQ(gradients_at("hardtanh", {1}), Numbers{0});
  EXPECT_EQ(gradients_at("leaky_relu", {0}), Numbers{0.01});
  EXPECT_EQ(gradients_at("elu", {0}, {0.7}), Numbers{0.7});
  EXPECT_EQ(gradients_at("hardsigmoid", {3}), Numbers{0});
  EXPECT_EQ(gradients_at("hardsigmoid", {-3}), Numbers{0});
  EXPECT_EQ(gradients_at("hardsigmoid", {0}), Numbers{1.0 / 6});
  for (const char* name : {"softshrink", "hardshrink"}) {
    EXPECT_EQ(gradients_at(name, {0.5}), Numbers{0}) << name;
    EXPECT_EQ(gradients_at(name, {-0.5}), Numbers{0}) << name;
  }
}

TEST(FormulaKinks, ClampPassesTheGradientAtItsBounds) {
  EXPECT_EQ(gradients_at("clamp", {-1}, {-1, 1}), Numbers{1});
  EXPECT_EQ(gradients_at("clamp", {1}, {-1, 1}), Numbers{1});
  EXPECT_EQ(gradients_at("clamp", {1.5}, {-1, 1}), Numbers{0});
}

TEST(FormulaKinks, TiesAreSharedOrGoToTheFirst) {
  EXPECT_EQ(gradients_at("maximum", {2, 2}), (Numbers{0.5, 0.5}));
  EXPECT_EQ(gradients_at("minimum", {2, 2}), (Numbers{0.5, 0.5}));
  EXPECT_EQ(gradients_at("fmax", {2, 2}), (Numbers{1, 0}));
  EXPECT_EQ(gradients_at("fmin", {2, 2}), (Numbers{1, 0}));
  EXPECT_EQ(gradients_at("fmax", {2, kNaN}), (Numbers{1, 0}));
  EXPECT_EQ(gradients_at("fmax", {kNaN, 2}), (Numbers{0, 1}));
}

TEST(FormulaKinks, EndsOfTheRangeAreLimits) {
  EXPECT_EQ(gradients_at("sqrt", {0}), Numbers{kInfinity});
  EXPECT_TRUE(std::isnan(gradients_at("sqrt", {-1})[0]));
  EXPECT_EQ(gradients_at("log", {0}), Numbers{kInfinity});
  EXPECT_EQ(gradients_at("log", {-1}), Numbers{-1});
  EXPECT_EQ(gradients_at("log1p", {-1}), Numbers{kInfinity});
  EXPECT_EQ(gradients_at("rsqrt", {0}), Numbers{-kInfinity});
  EXPECT_EQ(gradients_at("reciprocal", {0}), Numbers{-kInfinity});
  EXPECT_TRUE(std::isnan(gradients_at("atan2", {0, 0})[0]));
  EXPECT_TRUE(std::isnan(gradients_at("atan2", {0, 0})[1]));
}

TEST(FormulaKinks, PowersOfZero) {
  EXPECT_EQ(gradients_at("pow", {0, 0}), (Numbers{0, 0}));
  EXPECT_EQ(gradients_at("pow", {0, 2}), (Numbers{0, 0}));
  EXPECT_EQ(gradients_at("pow", {0, 1}), (Numbers{1, 0}));
  EXPECT_EQ(gradients_at("pow", {0, 0.5}), (Numbers{kInfinity, 0}));
  EXPECT_EQ(gradients_at("pow", {3, 0}), (Numbers{0, std::log(3.0)}));
  EXPECT_EQ(gradients_at("xlogy", {0, 0})[0], 0);
}

TEST(FormulaKinks, SecondDerivativesStayFiniteBesideTheBranchNotTaken) {
  const auto second = [](std::string_view name, const Numbers& x) {
    const Formula& f = formula(name);
    return f.second[0](1, x, f.default_params)[1];
  };
  EXPECT_EQ(second("elu", {1000}), 0);
  EXPECT_EQ(second("selu", {1000}), 0);
  EXPECT_EQ(second("mish", {1000}), 0);
  EXPECT_EQ(second("softplus", {1000}), 0);
  EXPECT_EQ(second("pow", {0, 0}), 0);
  EXPECT_EQ(second("pow", {0, 2}), 2);
  EXPECT_NEAR(second("sinc", {0}), -M_PI * M_PI / 3, 1e-14);
  EXPECT_EQ(second("logaddexp", {1000, -1000}), 0);
}

/// The first lane of an op on integers.
template <class T, class Op, class... Xs>
T on_integers(const op::ParamsOf<Op>& p, Xs... x) {
  const auto y = op::forward<Op>(p, cpu::Pack<T>(cpu::splat(static_cast<T>(x)))...);
  if constexpr (requires { y.bits; })
    return y.bits[0] != 0 ? 1 : 0;
  else
    return y.v[0];
}

TEST(FormulaIntegers, LimitsThatAreNoIntegersDoNotLimit) {
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ((on_integers<std::int32_t, op::Clamp>({}, -5)), -5);
  EXPECT_EQ((on_integers<std::int32_t, op::Clamp>({.min = -2}, -5)), -2);
  EXPECT_EQ((on_integers<std::uint8_t, op::Clamp>({.min = -2}, 250)), 250);
  EXPECT_EQ((on_integers<std::int32_t, op::NanToNum>({1, 2, 3}, kMax)), kMax);
  EXPECT_EQ((on_integers<std::int32_t, op::Isinf>({}, kMin)), 0);
  EXPECT_EQ((on_integers<std::int32_t, op::Isfinite>({}, kMax)), 1);
  EXPECT_EQ((on_integers<std::int32_t, op::Isnan>({}, kMax)), 0);
}

TEST(FormulaIntegers, WrapAround) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ((on_integers<std::int64_t, op::Add>({}, kMax, 1)), kMin);
  EXPECT_EQ((on_integers<std::int64_t, op::Sub>({}, kMin, 1)), kMax);
  EXPECT_EQ((on_integers<std::int64_t, op::Mul>({}, kMax, 2)), -2);
  EXPECT_EQ((on_integers<std::int64_t, op::Neg>({}, kMin)), kMin);
  EXPECT_EQ((on_integers<std::int64_t, op::Square>({}, kMax)), 1);
  EXPECT_EQ((on_integers<std::uint8_t, op::Relu>({}, 200)), 200);
}

TEST(FormulaIntegers, ShiftsBeyondTheirBitsKeepTheSignAlone) {
  EXPECT_EQ((on_integers<std::int32_t, op::BitwiseLeftShift>({}, 1, 31)),
            std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ((on_integers<std::int32_t, op::BitwiseLeftShift>({}, 1, 32)), 0);
  EXPECT_EQ((on_integers<std::int64_t, op::BitwiseLeftShift>({}, 1, -1)), 0);
  EXPECT_EQ((on_integers<std::int32_t, op::BitwiseRightShift>({}, -8, 40)), -1);
  EXPECT_EQ((on_integers<std::int64_t, op::BitwiseRightShift>({}, -8, -1)), -1);
  EXPECT_EQ((on_integers<std::uint8_t, op::BitwiseLeftShift>({}, 255, 4)), 240);
  EXPECT_EQ((on_integers<std::uint8_t, op::BitwiseRightShift>({}, 255, 8)), 0);
}

TEST(FormulaIntegers, QuotientsDoNotTrap) {
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ((on_integers<std::int32_t, op::TruncDivide>({}, -7, 2)), -3);
  EXPECT_EQ((on_integers<std::int32_t, op::TruncDivide>({}, kMin, -1)), kMin);
  EXPECT_EQ((on_integers<std::int32_t, op::Gcd>({}, kMin, -1)), 1);
  EXPECT_EQ((on_integers<std::uint8_t, op::BitwiseNot>({}, 5)), 250);
  EXPECT_EQ((on_integers<std::uint8_t, op::Signbit>({}, 200)), 0);
}

TEST(FormulaProbe, SavesWhatPyTorchSaves) {
  const auto reads = [](std::string_view name, std::size_t i = 0) {
    return formula(name).gradient_probe[i].reads;
  };
  constexpr std::uint32_t kInput = 1;
  constexpr std::uint32_t kOutput = 2;
  for (const char* name :
       {"exp", "exp2", "expm1", "sqrt", "rsqrt", "reciprocal", "tan", "tanh", "sigmoid", "relu"}) {
    EXPECT_EQ(reads(name), kOutput) << name;
  }
  for (const char* name : {"abs", "log", "sin", "erf", "silu", "gelu", "elu", "leaky_relu", "mish",
                           "clamp", "square"}) {
    EXPECT_EQ(reads(name), kInput) << name;
  }
  for (const char* name : {"neg", "floor", "frac", "sign"}) EXPECT_EQ(reads(name), 0U) << name;
  EXPECT_EQ(reads("add", 0) | reads("add", 1) | reads("sub", 1), 0U);
  EXPECT_EQ(reads("mul", 0), 0b010U);
  EXPECT_EQ(reads("mul", 1), 0b001U);
  EXPECT_EQ(reads("pow", 0), 0b011U);
  EXPECT_EQ(reads("pow", 1), 0b111U);
  EXPECT_TRUE(formula("add").gradient_probe[0].is_gradient);
  EXPECT_FALSE(formula("sub").gradient_probe[1].is_gradient);
}

}  // namespace
}  // namespace eg
