// Running sums and products, differences.

#include "ops/reduce/scan.h"

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "support/errors.h"
#include "support/gradcheck.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::gradcheck_one;
using testing::leaf;
using testing::sum;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;

TEST(Cumsum, RunsAlongTheDimension) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(values(Cumsum::call(x, 0)), (Values{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(values(Cumsum::call(x, -1)), (Values{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(Cumsum::call(tensor({}, {0, 2}), 0).shape(), (Shape{0, 2}));
}

TEST(Cumsum, OfIntegersIsInt64UnlessAsked) {
  const Tensor x = tensor<std::uint8_t>({200, 100});
  EXPECT_EQ(Cumsum::call(x, 0).dtype(), DType::kInt64);
  EXPECT_EQ(values(Cumsum::call(x, 0)), (Values{200, 300}));
  EXPECT_EQ(Cumsum::call(x, 0, DType::kFloat32).dtype(), DType::kFloat32);
  EXPECT_EQ(Cumsum::call(x, 0, DType::kInt32).dtype(), DType::kInt32);
  EXPECT_EQ(values(Cumsum::call(tensor<bool>({true, true}), 0)), (Values{1, 2}));
}

TEST(Cumsum, OfFloatsLosesNothingOnTheWay) {
  const std::vector<float> ones(100000, 0.1F);
  EXPECT_NEAR(values(Cumsum::call(tensor(ones), 0)).back(), 10000, 1e-3);
}

TEST(Cumprod, RunsAlongTheDimension) {
  EXPECT_EQ(values(Cumprod::call(tensor({1, 2, 3, 4}), 0)), (Values{1, 2, 6, 24}));
  EXPECT_EQ(values(Cumprod::call(tensor<std::int32_t>({2, 0, 3}), 0)), (Values{2, 0, 0}));
}

TEST(Cumprod, HasAGradientAtZeros) {
  const Tensor x = leaf<double>({2, 0, 3, 0, 5});
  backward({sum(Cumprod::call(x, 0))});
  EXPECT_EQ(values(grad(x)), (Values{1, 8, 0, 0, 0}));
}

TEST(Cumprod, HasASecondGradientAtZeros) {
  const auto op = [](const TensorList& in) { return Cumprod::call(in[0], 0); };
  EXPECT_TRUE(gradcheck_one(op, {leaf<double>({2, 0, 3, 0, 5})}));
  EXPECT_TRUE(gradcheck_one(op, {leaf<double>({0, 1, 0, 2, 4, 0}, {3, 2})}));
}

TEST(Logcumsumexp, DoesNotOverflow) {
  const Values y = values(Logcumsumexp::call(tensor<double>({1000, 1000, -1000}), 0));
  EXPECT_NEAR(y[1], 1000 + std::log(2), 1e-9);
  EXPECT_EQ(y[2], y[1]);
  const Values edge = values(Logcumsumexp::call(tensor({-INFINITY, 1, INFINITY, 0}), 0));
  EXPECT_EQ(edge, (Values{-INFINITY, 1, INFINITY, INFINITY}));
  EXPECT_TRUE(std::isnan(values(Logcumsumexp::call(tensor({NAN, 1}), 0))[1]));
  expect_error(ErrorCode::kDtypeMismatch, "logcumsumexp",
               [] { Logcumsumexp::call(tensor<std::int64_t>({1}), 0); });
}

TEST(Logcumsumexp, HasAFiniteGradientForSteepInput) {
  const Tensor x = leaf<double>({1000, -1000, 2000});
  backward({sum(Logcumsumexp::call(x, 0))});
  EXPECT_EQ(values(grad(x)), (Values{2, 0, 1}));
}

TEST(Diff, SubtractsNeighbors) {
  const Tensor x = tensor({1, 4, 9, 16});
  EXPECT_EQ(values(Diff::call(x)), (Values{3, 5, 7}));
  EXPECT_EQ(values(Diff::call(x, 2)), (Values{2, 2}));
  EXPECT_EQ(values(Diff::call(x, 0)), values(x));
  EXPECT_EQ(Diff::call(x, 9).shape(), Shape{0});
  EXPECT_EQ(values(Diff::call(tensor<bool>({true, true, false}))), (Values{0, 1}));
  EXPECT_EQ(values(Diff::call(x, 1, 0, tensor({0}), tensor({20}))), (Values{1, 3, 5, 7, 4}));
  expect_error(ErrorCode::kShapeMismatch, "at least 1 dimension",
               [] { Diff::call(tensor({1}, {})); });
}

}  // namespace
}  // namespace eg
