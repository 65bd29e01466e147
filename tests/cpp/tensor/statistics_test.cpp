#include "ops/reduce/statistics.h"

#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/create/copy.h"
#include "ops/nn/distance.h"
#include "ops/shape/view.h"
#include "support/errors.h"
#include "support/forward_check.h"
#include "support/gradcheck.h"
#include "support/special_values.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::gradcheck_one;
using testing::leaf;
using testing::random_leaf;
using testing::tensor;
using testing::value;
using testing::values;
using Values = std::vector<double>;

using testing::kInfinity;

Values gradients_of(const Tensor& output, const Tensor& input) {
  return values(grad({testing::sum(output)}, {input})[0]);
}

TEST(Variance, DividesByTheCountLessCorrection) {
  const Tensor x = tensor({1, 2, 3, 4});
  EXPECT_FLOAT_EQ(static_cast<float>(value(Variance::call(x))), 5.0F / 3);
  EXPECT_EQ(value(Variance::call(x, {}, 0)), 1.25);
  EXPECT_EQ(value(Variance::call(x, {}, 1, false, false)), 1.25);
  EXPECT_EQ(value(Variance::call(x, {}, 2)), 2.5);
  EXPECT_EQ(value(Std::call(tensor({1, 3}), {}, 0)), 1);
  EXPECT_TRUE(std::isnan(value(Variance::call(tensor({1})))));
  expect_error(ErrorCode::kDtypeMismatch,
               "[std] expected floating-point or complex numbers, got int32",
               [&] { Std::call(tensor<std::int32_t>({1, 2})); });
}

TEST(Variance, OfLargeNumbersKeepsItsDigits) {
  const Tensor x = tensor({10000, 10001, 10002, 10003, 10000, 10001, 10002, 10003}, {2, 4});
  EXPECT_EQ(values(Variance::call(x, Dims{1}, 0)), (Values{1.25, 1.25}));
  EXPECT_EQ(values(Variance::call(x, Dims{0}, 0, true)), (Values{0, 0, 0, 0}));
}

// Of float32 around a large mean, against the same numbers in float64.
TEST(Variance, AroundALargeMeanKeepsItsDigits) {
  for (const double mean : {1e2, 1e3, 1e4, 1e5}) {
    std::mt19937 random(5);
    std::normal_distribution<double> normal(mean);
    Values numbers(std::size_t{300} * 70);
    for (double& number : numbers) number = static_cast<float>(normal(random));
    const Tensor wide = tensor<double>(numbers, {300, 70});
    const Tensor x = ToDType::call(wide, DType::kFloat32);
    for (const Dims& dims : {Dims{0}, Dims{1}, Dims{0, 1}}) {
      const auto expect_near = [&](const Tensor& found, const Tensor& expected) {
        const Values a = values(found);
        const Values e = values(expected);
        for (std::size_t i = 0; i < e.size(); ++i) EXPECT_NEAR(a[i], e[i], 1e-6 * e[i]) << mean;
      };
      expect_near(Variance::call(x, dims), Variance::call(wide, dims));
      expect_near(Std::call(x, dims), Std::call(wide, dims));
    }
  }
}

TEST(Variance, DerivativesAreRight) {
  const Tensor x = random_leaf({3, 4, 2}, 5);
  for (const Dims& dims : {Dims{1}, Dims{0, 2}, Dims{0, 1, 2}}) {
    for (const double correction : {0.0, 1.0, 1.5}) {
      EXPECT_TRUE(gradcheck_one(
          [&](const TensorList& in) { return Variance::call(in[0], dims, correction); }, {x}));
      EXPECT_TRUE(gradcheck_one(
          [&](const TensorList& in) { return Std::call(in[0], dims, correction, true); }, {x}));
    }
  }
}

TEST(Std, OfConstantsHasNoGradient) {
  const Tensor x = leaf({2, 2, 2});
  EXPECT_EQ(gradients_of(Std::call(x), x), (Values{0, 0, 0}));
}

TEST(Norm, KnowsEveryP) {
  const Tensor x = tensor<double>({3, 0, -4});
  EXPECT_EQ(value(Norm::call(x)), 5);
  EXPECT_EQ(value(Norm::call(x, 1)), 7);
  EXPECT_EQ(value(Norm::call(x, 0)), 2);
  EXPECT_EQ(value(Norm::call(x, kInfinity)), 4);
  EXPECT_EQ(value(Norm::call(x, -kInfinity)), 0);
  EXPECT_NEAR(value(Norm::call(x, 3)), std::cbrt(91.0), 1e-12);
  EXPECT_NEAR(value(Norm::call(x, 0.5)), std::pow(std::sqrt(3.0) + 2, 2), 1e-12);
  EXPECT_EQ(values(Norm::call(Transpose::call(tensor({3, 4, 6, 8}, {2, 2}), 0, 1), 2, Dims{0})),
            (Values{5, 10}));
  expect_error(ErrorCode::kDtypeMismatch, "expected floating-point",
               [&] { Norm::call(tensor<std::int32_t>({1})); });
}

TEST(Norm, OfNothing) {
  const Tensor empty = testing::empty({0}, DType::kFloat32);
  EXPECT_EQ(value(Norm::call(empty)), 0);
  expect_error(ErrorCode::kInvalidArgument, "the norm of no elements is not defined for p = inf",
               [&] { Norm::call(empty, kInfinity); });
}

TEST(Norm, SubGradientAtZeroIsZero) {
  const Tensor zero = leaf({0, 0});
  for (const double p : {1.0, 1.5, 2.0, 3.0, kInfinity})
    EXPECT_EQ(gradients_of(Norm::call(zero, p), zero), (Values{0, 0}));
  const Tensor ties = leaf({2, -2, 1});
  EXPECT_EQ(gradients_of(Norm::call(ties, kInfinity), ties), (Values{0.5, -0.5, 0}));
}

TEST(Norm, DerivativesAreRight) {
  for (const double p : {0.5, 1.0, 1.5, 2.0, 3.0, kInfinity, -kInfinity}) {
    const Tensor x = random_leaf({3, 4}, 2, 0.2, 2);
    EXPECT_TRUE(gradcheck_one([&](const TensorList& in) { return Norm::call(in[0], p); }, {x}))
        << p;
    EXPECT_TRUE(gradcheck_one(
        [&](const TensorList& in) { return Norm::call(in[0], p, Dims{0}, true); }, {x}))
        << p;
  }
}

// Also as tangents, and to the second order: reverse over forward and forward over reverse.
TEST(Norm, DerivativesAtZeroAreThoseOfTheSubgradient) {
  using Function = std::function<Tensor(const TensorList&)>;
  const auto expect_derivatives = [](const Function& function, const TensorList& leaves) {
    const auto listed = [&](const TensorList& in) { return TensorList{function(in)}; };
    return testing::forward_check(listed, leaves);
  };
  const auto leaf_of = [](const Values& values, const Shape& shape) {
    const Tensor t = tensor<double>(values, shape);
    set_requires_grad(t, true);
    return t;
  };
  const Tensor zeros = leaf_of(Values(6), {2, 3});
  const Tensor rows = leaf_of({1, 2, 3, 1, 2, 3}, {2, 3});
  const Tensor others = leaf_of({1, 2, 3, 4, 4, 4}, {2, 3});
  for (const double p : {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, -1.0, kInfinity, -kInfinity}) {
    SCOPED_TRACE(p);
    const auto norm = [&](const TensorList& in) { return Norm::call(in[0], p, Dims{1}); };
    EXPECT_TRUE(expect_derivatives(norm, {zeros}));
    const auto pairs = [&](const TensorList& in) {
      return PairwiseDistance::call(in[0], in[1], p, 0);
    };
    EXPECT_TRUE(expect_derivatives(pairs, {rows, others}));
    const auto distances = [&](const TensorList& in) { return Cdist::call(in[0], in[1], p); };
    EXPECT_TRUE(expect_derivatives(distances, {rows, others}));
    if (p < 1) continue;
    const auto normalize = [&](const TensorList& in) { return Normalize::call(in[0], p); };
    EXPECT_TRUE(expect_derivatives(normalize, {zeros}));
  }
  const Tensor equal = leaf_of({2, 2, 2, 3, 3, 3}, {2, 3});
  EXPECT_TRUE(
      expect_derivatives([](const TensorList& in) { return Std::call(in[0], Dims{1}); }, {equal}));
  const auto cosine = [](const TensorList& in) {
    return CosineSimilarity::call(in[0], in[1], 1, 0.5);
  };
  EXPECT_TRUE(expect_derivatives(cosine, {zeros, others}));
  EXPECT_TRUE(expect_derivatives(cosine, {zeros, leaf_of(Values(6), {2, 3})}));
}

// The distance of a point to itself is zero for every scale.
TEST(Cdist, HasTheSecondDerivativeByALengthScale) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const std::int64_t count : {4, 30}) {
      const Tensor x = ToDType::call(detach(random_leaf({count, 3}, 3)), dtype);
      const Tensor scale = testing::full({}, 1, dtype);
      set_requires_grad(scale, true);
      const Tensor scaled = (Var(x) / scale).tensor();
      const Var distances = Cdist::call(scaled, scaled);
      const Tensor total = testing::sum((distances * distances).tensor());
      const Tensor first = grad({total}, {scale}, {}, {{.create_graph = true}})[0];
      const double second = value(grad({first}, {scale})[0]);
      EXPECT_NEAR(second / value(total), 6, 1e-4);
    }
  }
}

TEST(Logsumexp, NeitherOverflowsNorUnderflows) {
  EXPECT_NEAR(value(Logsumexp::call(tensor<double>({1000, 1000}), {0})), 1000 + std::log(2.0),
              1e-12);
  EXPECT_NEAR(value(Logsumexp::call(tensor<double>({-1000, -1000}), {0})), -1000 + std::log(2.0),
              1e-12);
  EXPECT_EQ(value(Logsumexp::call(tensor<double>({-kInfinity, -kInfinity}), {0})), -kInfinity);
  EXPECT_EQ(value(Logsumexp::call(tensor<double>({kInfinity, 0}), {0})), kInfinity);
  EXPECT_EQ(value(Logsumexp::call(testing::empty({0}, DType::kFloat32), {0})), -kInfinity);
  EXPECT_EQ(Logsumexp::call(tensor<std::int32_t>({1, 2}), {0}).dtype(), DType::kFloat32);
  EXPECT_EQ(Logsumexp::call(random_leaf({2, 3, 4}, 1), {0, 2}, true).shape(), (Shape{1, 3, 1}));
  EXPECT_TRUE(gradcheck_one([](const TensorList& in) { return Logsumexp::call(in[0], {0, 2}); },
                            {random_leaf({2, 3, 4}, 1)}));
}

}  // namespace
}  // namespace eg
