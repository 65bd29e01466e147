// The gradient at points without a derivative, or with several subgradients.

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/elementwise/overload.h"
#include "ops/reduce/minmax.h"
#include "ops/reduce/reduction.h"
#include "ops/reduce/statistics.h"
#include "support/errors.h"
#include "support/ops.h"
#include "support/special_values.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::leaf;
using testing::mul;
using testing::sum;
using testing::value;
using testing::values;
using Values = std::vector<double>;

using testing::kInfinity;
using testing::kNaN;

void expect_equal(const Values& actual, const Values& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(actual[i])) << what << ": " << actual[i];
    } else if (std::isinf(expected[i])) {
      EXPECT_EQ(actual[i], expected[i]) << what;
    } else {
      EXPECT_NEAR(actual[i], expected[i], 1e-6) << what;
    }
  }
}

// The gradients of sum(f(leaves)), by the fused kernel (float32), by the formula (float64) and by
// the recorded formula, which must agree.
template <class F>
void expect_gradients(const std::string& what, const std::vector<double>& points, F&& f,
                      const Values& expected) {
  const std::vector<float> narrow(points.begin(), points.end());
  const Tensor x = leaf<float>(narrow);
  expect_equal(values(grad({sum(f(x))}, {x})[0]), expected, what + " in float32");
  const Tensor y = leaf<double>(points);
  expect_equal(values(grad({sum(f(y))}, {y})[0]), expected, what + " in float64");
  expect_equal(values(grad({sum(f(y))}, {y}, {}, {{.create_graph = true}})[0]), expected,
               what + " recorded");
}

template <class Op>
void expect_gradients_of(const std::vector<double>& points, const Values& expected,
                         const op::ParamsOf<Op>& params = {}) {
  expect_gradients(
      std::string(Op::doc.name), points,
      [&](const Tensor& x) {
        const std::array<Tensor, 1> inputs{x};
        return apply_elementwise(elementwise_info<Op>(), inputs, op::param_values<Op>(params));
      },
      expected);
}

// rule: subgradients, no-domain-check
TEST(Subgradients, OfUnaryOpsAreTheConventions) {
  expect_gradients_of<op::Abs>({0}, {0});
  for (const double x : {-1.5, 0.0, 2.0}) {
    expect_gradients_of<op::Sign>({x}, {0});
    expect_gradients_of<op::Sgn>({x}, {0});
    expect_gradients_of<op::Floor>({x}, {0});
    expect_gradients_of<op::Ceil>({x}, {0});
    expect_gradients_of<op::Round>({x}, {0});
    expect_gradients_of<op::Trunc>({x}, {0});
  }
  expect_gradients_of<op::Relu>({0}, {0});
  expect_gradients_of<op::Relu6>({0, 6, 3}, {0, 0, 1});
  expect_gradients_of<op::Hardtanh>({-1, 1, 0}, {0, 0, 1});
  expect_gradients_of<op::LeakyRelu>({0}, {0.01});
  expect_gradients_of<op::Elu>({0}, {1});
  expect_gradients_of<op::Elu>({0}, {0.5}, {.alpha = 0.5});
  expect_gradients_of<op::Hardsigmoid>({-3, 3, 0}, {0, 0, 1.0 / 6});
  expect_gradients_of<op::Softshrink>({-0.5, 0.5, 1}, {0, 0, 1});
  expect_gradients_of<op::Hardshrink>({-0.5, 0.5, 1}, {0, 0, 1});
  expect_gradients_of<op::Clamp>({-1, 1, 2}, {1, 1, 0}, {.min = -1, .max = 1});
  expect_gradients_of<op::Sqrt>({0, -1}, {kInfinity, kNaN});
  expect_gradients_of<op::Log>({0, -1}, {kInfinity, -1});
  expect_gradients_of<op::Log1p>({-1}, {kInfinity});
  expect_gradients_of<op::Rsqrt>({0}, {-kInfinity});
  expect_gradients_of<op::Reciprocal>({0}, {-kInfinity});
}

// rule: powers-of-zero
TEST(Subgradients, OfPowers) {
  const auto power = [](double exponent) {
    return [exponent](const Tensor& x) { return call<op::Pow>(x, exponent); };
  };
  expect_gradients("pow 0", {0, 2}, power(0), {0, 0});
  expect_gradients("pow 2", {0}, power(2), {0});
  expect_gradients("pow 1/2", {0}, power(0.5), {kInfinity});
  expect_gradients("pow 1", {0}, power(1), {1});
  expect_gradients("0 to the power of", {0, 2},
                   [](const Tensor& exponent) { return call<op::Pow>(Operand(0.0), exponent); },
                   {0, 0});
}

// rule: ties-of-two
TEST(Subgradients, TiesOfTwoTensors) {
  const auto first = [](auto op) {
    using Op = decltype(op);
    return [](const Tensor& x) { return call<Op>(x, full_like(detach(x), 2)); };
  };
  const auto second = [](auto op) {
    using Op = decltype(op);
    return [](const Tensor& x) { return call<Op>(full_like(detach(x), 2), x); };
  };
  expect_gradients("maximum", {2}, first(op::Maximum{}), {0.5});
  expect_gradients("maximum", {2}, second(op::Maximum{}), {0.5});
  expect_gradients("minimum", {2}, first(op::Minimum{}), {0.5});
  expect_gradients("fmax", {2}, first(op::Fmax{}), {1});
  expect_gradients("fmax", {2}, second(op::Fmax{}), {0});
  expect_gradients("fmin", {2}, first(op::Fmin{}), {1});
  expect_gradients("fmin", {2}, second(op::Fmin{}), {0});
  expect_gradients("atan2", {0}, [](const Tensor& x) { return call<op::Atan2>(x, 0); }, {kNaN});
  expect_gradients("fmod", {2, 5.5}, [](const Tensor& x) { return call<op::Fmod>(x, 2); }, {1, 1});
  expect_gradients("remainder", {2, 5.5}, [](const Tensor& x) { return call<op::Remainder>(x, 2); },
                   {1, 1});
}

// rule: ties-of-reductions
TEST(Subgradients, TiesOfReductions) {
  const auto largest = [](const Tensor& x) { return Max::call(x).tensors[0]; };
  const double third = 1.0 / 3;
  expect_gradients("max", {1, 0, 1, 0, 1, 0}, largest, {third, 0, third, 0, third, 0});
  expect_gradients("min", {1, 0, 1, 0, 1, 0},
                   [](const Tensor& x) { return Min::call(x).tensors[0]; },
                   {0, third, 0, third, 0, third});
  expect_gradients("amax", {1, 1}, [](const Tensor& x) { return Amax::call(x); }, {0.5, 0.5});
  expect_gradients("max of nan", {kNaN, kNaN, kNaN}, largest, {third, third, third});
  // Along a dim the gradient goes to the one index that was chosen.
  const Tensor x = leaf<double>({1, 0, 1});
  const TensorList chosen = Max::call(x, 0).tensors;
  Values expected(3);
  expected[static_cast<std::size_t>(value(chosen[1]))] = 1;
  EXPECT_EQ(values(grad({chosen[0]}, {x})[0]), expected);
}

// rule: norm-at-zero
TEST(Subgradients, OfNormsAtZero) {
  const auto norm = [](double p) { return [p](const Tensor& x) { return Norm::call(x, p); }; };
  expect_gradients("norm 2", {0, 0}, norm(2), {0, 0});
  expect_gradients("norm 1", {0, 0}, norm(1), {0, 0});
  expect_gradients("norm inf", {3, -3, 1}, norm(kInfinity), {0.5, -0.5, 0});
  expect_gradients("sqrt of squares", {0, 0},
                   [](const Tensor& x) { return call<op::Sqrt>(sum(mul(x, x))); }, {kNaN, kNaN});
  expect_gradients("std", {2, 2, 2}, [](const Tensor& x) { return Std::call(x); }, {0, 0, 0});
}

// rule: product-with-zeros
TEST(Subgradients, OfProductsWithZeros) {
  const auto product = [](const Tensor& x) { return Prod::call(x); };
  expect_gradients("prod", {2, 0, 3}, product, {0, 6, 0});
  expect_gradients("prod", {2, 0, 0}, product, {0, 0, 0});
}

// rule: where-selects
TEST(Subgradients, WhereSelectsInsteadOfMultiplying) {
  const auto safe = [](const Tensor& x) {
    return call<op::Where>(call<op::Gt>(x, 0), x, call<op::Reciprocal>(x));
  };
  expect_gradients("where", {2, -4}, safe, {1, -1.0 / 16});
  // The unused branch still multiplies zero by infinity.
  const auto unsafe = [](const Tensor& x) {
    return call<op::Where>(call<op::Gt>(x, 0), call<op::Sqrt>(x), 0);
  };
  expect_gradients("where", {0}, unsafe, {kNaN});
}

// rule: decomposed-identity
TEST(Subgradients, TheIdentityTakenApartHasNone) {
  expect_gradients("relu(x) - relu(-x)", {0},
                   [](const Tensor& x) {
                     return call<op::Sub>(call<op::Relu>(x), call<op::Relu>(call<op::Neg>(x)));
                   },
                   {0});
}

// rule: clamp-limits
// As in PyTorch's clamp_backward: at a limit the input gets the gradient. Where the limits meet or
// cross, an input below them passes no gradient to the lower limit.
TEST(Subgradients, OfLimits) {
  using Clamp = Overload<op::Clamp>;
  expect_gradients("limits that meet", {0, 1, 2},
                   [](const Tensor& x) { return Clamp::call(x, Operand(1.0), Operand(1.0)); },
                   {0, 1, 0});
  const Tensor low = leaf<double>({0, 1, 1, 1, 2, 2, 2});
  const Tensor high = leaf<double>({2, 2, 1, 1, 1, 1, 1});
  const Tensor x = leaf<double>({1, 0, 1, 0, 0, 1, 3});
  const TensorList gradients = grad({sum(Clamp::call(x, low, high))}, {x, low, high});
  EXPECT_EQ(values(gradients[0]), (Values{1, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(values(gradients[1]), (Values{0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(values(gradients[2]), (Values{0, 0, 0, 0, 1, 1, 1}));
  const TensorList lower = grad({sum(Clamp::call(x, low, std::nullopt))}, {x, low});
  EXPECT_EQ(values(lower[0]), (Values{1, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(values(lower[1]), (Values{0, 1, 0, 1, 1, 1, 0}));
  expect_error(ErrorCode::kInvalidArgument, "expected min, max or both",
               [&] { (void)Clamp::call(x, std::nullopt, std::nullopt); });
}

// rule: missing-formula
// The op is recorded, and backward reports the missing formula.
TEST(Subgradients, ThatAreMissingAreToldByBackward) {
  const Tensor a = leaf<double>({2, 3});
  const Tensor y = call<op::Gammainc>(a, 1.5);
  ASSERT_TRUE(requires_grad(y));
  expect_error(ErrorCode::kNotDifferentiable,
               "gammainc is not differentiable with respect to its input",
               [&] { (void)grad({sum(y)}, {a}); });
}

// rule: not-differentiable
TEST(Subgradients, ComparisonsAndIndicesHaveNone) {
  const Tensor x = leaf({1, 2});
  EXPECT_FALSE(requires_grad(call<op::Gt>(x, 1)));
  EXPECT_FALSE(requires_grad(call<op::Isnan>(x)));
  EXPECT_FALSE(requires_grad(Argmax::call(x)));
  EXPECT_FALSE(requires_grad(ToDType::call(x, DType::kInt64)));
  EXPECT_FALSE(requires_grad(Max::call(x, 0).tensors[1]));
}

}  // namespace
}  // namespace eg
