// Kernels of hot ops inline the words of the vocabulary instead of calling them. They must compute
// the same as the formula on packs whose words are calls.

#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "backend/cpu/elementwise/elementwise.h"
#include "formulas/all.h"
#include "support/formulas.h"

namespace eg::cpu {
namespace {

using testing::formula;

constexpr std::size_t kCount = 64;
using Row = std::array<float, kCount>;

// Numbers of both signs, from denormal to infinite, and NaN.
Row samples() {
  Row x{};
  for (std::size_t i = 0; i < kCount; ++i) x[i] = (static_cast<float>(i) - 31.5F) * 0.37F;
  const float infinity = std::numeric_limits<float>::infinity();
  const std::array special{0.0F,  -0.0F,  1e-40F,  -1e-40F,  89.0F,    -89.0F,    -104.0F, 200.0F,
                           1e20F, -1e20F, 3.4e38F, -3.4e38F, infinity, -infinity, NAN};
  for (std::size_t i = 0; i < special.size(); ++i) x[i * 4 + i % 4] = special[i];
  return x;
}

void expect_same(const Row& actual, const Row& expected, const Row& x, std::string_view what) {
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_TRUE(actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i])))
        << what << '(' << x[i] << ") is " << actual[i] << ", not " << expected[i];
  }
}

template <class Op>
void expect_kernels_like_formulas(const op::ParamValues& params) {
  const Row x = samples();
  const auto p = op::params_from<Op>(params.data());
  Row y{};
  Row g{};
  Row slopes{};
  for (std::size_t i = 0; i < kCount; ++i) g[i] = 1 + static_cast<float>(i % 3);
  for (std::size_t i = 0; i < kCount; i += 4) {
    const auto value = Pack<float>::load(&x[i]);
    const Pack<float> result = op::forward<Op>(p, value);
    result.store(&y[i]);
    Pack<float>(op::gradient<Op, 0>(p, Pack<float>::load(&g[i]), value, result)).store(&slopes[i]);
  }

  Row out{};
  KernelArgs args;
  args.packs = kCount / 4;
  args.params = params.data();
  args.step.fill(16);
  args.out = reinterpret_cast<char*>(out.data());
  args.in[0] = reinterpret_cast<const char*>(x.data());
  forward_kernel<Op, float>(args);
  expect_same(out, y, x, Op::doc.name);

  args.in[0] = reinterpret_cast<const char*>(g.data());
  args.in[1] = reinterpret_cast<const char*>(x.data());
  args.in[2] = reinterpret_cast<const char*>(y.data());
  gradient_kernel<Op, 0, float>(args);
  expect_same(out, slopes, x, Op::doc.name);
}

TEST(HotKernels, ComputeWhatTheFormulaSays) {
  op::ElementwiseOps::for_each([]<class Op>() {
    if constexpr (op::kIsHot<Op>) {
      static_assert(op::kArity<Op> == 1);
      expect_kernels_like_formulas<Op>({0});
      expect_kernels_like_formulas<Op>({1});
    }
  });
}

TEST(HotKernels, GeluKeepsItsDigitsWhereItIsTiny) {
  for (const double x : {-1.5, -3.0, -5.0, -8.0, -11.0, -13.0}) {
    const double value = formula("gelu").forward({x}, {0});
    const double slope = formula("gelu").gradient[0](1, {x}, {0});
    // Rounding x / sqrt(2) moves the exponent by x^2 / 2 units in the last place.
    const double tolerance = 1e-6 + x * x * 0x1p-23;
    EXPECT_NEAR(formula("gelu").forward32({x}, {0}), value, -value * tolerance) << x;
    EXPECT_NEAR(formula("gelu").gradient32[0](1, {x}, {0}), slope, -slope * tolerance) << x;
  }
  EXPECT_EQ(formula("gelu").forward32({1e30}, {0}), static_cast<double>(1e30F));
  EXPECT_EQ(formula("gelu").forward32({-1e30}, {0}), 0);
}

}  // namespace
}  // namespace eg::cpu
