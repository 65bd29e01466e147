// Creation of tensors, regular and random.

#include "ops/create/factory.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/grad_mode.h"
#include "dispatch/elementwise.h"
#include "formulas/all.h"
#include "ops/shape/view.h"
#include "runtime/random.h"
#include "support/errors.h"
#include "support/expect_near.h"
#include "support/gradcheck.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::expect_near;
using testing::leaf;
using testing::sum;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;

TEST(Factories, ChooseTheDtypeAsPyTorch) {
  EXPECT_EQ(Zeros::call({2}).dtype(), DType::kFloat32);
  EXPECT_EQ(Full::call({2}, 1).dtype(), DType::kInt64);
  EXPECT_EQ(Full::call({2}, true).dtype(), DType::kBool);
  EXPECT_EQ(Full::call({2}, 1.5).dtype(), DType::kFloat32);
  EXPECT_EQ(Full::call({2}, 1, DType::kFloat64).dtype(), DType::kFloat64);
  EXPECT_EQ(Arange::call(3).dtype(), DType::kInt64);
  EXPECT_EQ(Arange::call(3.0).dtype(), DType::kFloat32);
  EXPECT_EQ(Linspace::call(0, 1, 3).dtype(), DType::kFloat32);
  EXPECT_EQ(Randint::call(0, {3}, Dims{2}).dtype(), DType::kInt64);
  EXPECT_EQ(Randperm::call(3).dtype(), DType::kInt64);
  EXPECT_EQ(OnesLike::call(tensor<std::int32_t>({1})).dtype(), DType::kInt32);
}

TEST(Factories, FillEveryElement) {
  EXPECT_EQ(values(Ones::call({2, 1})), (Values{1, 1}));
  EXPECT_EQ(Zeros::call({0, 3}).shape(), (Shape{0, 3}));
  EXPECT_EQ(values(Full::call({}, 2.5)), Values{2.5});
  expect_error(ErrorCode::kInvalidArgument, "must not be negative", [] { Zeros::call({-1}); });
}

TEST(Arange, CountsByStep) {
  EXPECT_EQ(values(Arange::call(3)), (Values{0, 1, 2}));
  EXPECT_EQ(values(Arange::call(1, Scalar(7), 3)), (Values{1, 4}));
  EXPECT_EQ(values(Arange::call(1, Scalar(8), 3)), (Values{1, 4, 7}));
  EXPECT_EQ(values(Arange::call(3, Scalar(0), -2)), (Values{3, 1}));
  EXPECT_EQ(values(Arange::call(0, Scalar(1), 0.25)), (Values{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(Arange::call(0).shape(), Shape{0});
  expect_error(ErrorCode::kInvalidArgument, "step must be nonzero",
               [] { Arange::call(0, Scalar(1), 0); });
  expect_error(ErrorCode::kInvalidArgument, "step must be negative to get from 0 to -1, got 1.",
               [] { Arange::call(0, Scalar(-1)); });
}

TEST(Linspace, HitsBothEnds) {
  EXPECT_EQ(values(Linspace::call(-1, 1, 5)), (Values{-1, -0.5, 0, 0.5, 1}));
  EXPECT_EQ(values(Linspace::call(3, 10, 1)), Values{3});
  EXPECT_EQ(Linspace::call(0, 1, 0).shape(), Shape{0});
  EXPECT_EQ(values(Linspace::call(0, 0.1, 7)).back(), static_cast<double>(0.1F));
}

TEST(Eye, MayBeRectangular) {
  EXPECT_EQ(values(Eye::call(2)), (Values{1, 0, 0, 1}));
  EXPECT_EQ(values(Eye::call(3, 2)), (Values{1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(Eye::call(0, 2).shape(), (Shape{0, 2}));
}

TEST(Like, KeepsTheLayoutOfADenseTensor) {
  const Tensor x = Transpose::call(Ones::call({2, 3}), 0, 1);
  const Tensor y = ZerosLike::call(x, DType::kFloat64);
  EXPECT_EQ(y.strides(), x.strides());
  EXPECT_EQ(values(y), Values(6, 0));
  EXPECT_EQ(values(FullLike::call(x, 3)), Values(6, 3));
  EXPECT_TRUE(ZerosLike::call(Expand::call(Ones::call({1}), {4})).is_contiguous());
}

// The numbers are those of torch after manual_seed(0).
TEST(Random, DrawsPyTorchsNumbers) {
  manual_seed(0);
  expect_near(Rand::call({2, 2}),
              {0.49625658988952637, 0.7682217955589294, 0.08847743272781372, 0.13203048706054688});
  manual_seed(0);
  const Tensor x = Zeros::call({2, 2});
  UniformInPlace::call(x);
  expect_near(x,
              {0.49625658988952637, 0.7682217955589294, 0.08847743272781372, 0.13203048706054688});
  EXPECT_EQ(x.version(), 1U);
}

TEST(Random, FillsAreDrawnInTheOrderOfMemory) {
  manual_seed(0);
  const Tensor x = Transpose::call(Zeros::call({2, 2}), 0, 1);
  UniformInPlace::call(x);
  expect_near(x,
              {0.49625658988952637, 0.08847743272781372, 0.7682217955589294, 0.13203048706054688});
  manual_seed(0);
  const Tensor wide = Zeros::call({2, 4});
  UniformInPlace::call(Slice::call(wide, 1, 0, {}, 2));
  expect_near(wide, {0.49625658988952637, 0, 0.7682217955589294, 0, 0.08847743272781372, 0,
                     0.13203048706054688, 0});
}

TEST(Random, ANormalFillOfAViewIsDrawnSingly) {
  manual_seed(3);
  const Tensor packed = Randn::call({15});
  manual_seed(3);
  const Tensor wide = Zeros::call({15, 2});
  NormalInPlace::call(Select::call(wide, 1, 0));
  EXPECT_EQ(values(Select::call(wide, 1, 0)), values(packed));
  manual_seed(3);
  EXPECT_EQ(values(RandnLike::call(packed)), values(packed));
}

TEST(Randint, TakesTwoForms) {
  manual_seed(5);
  const Tensor a = Randint::call(0, {10}, Dims{8});
  manual_seed(5);
  EXPECT_EQ(values(Randint::call(10, {8})), values(a));
  for (const double v : values(a)) EXPECT_TRUE(v >= 0 && v < 10);
  expect_error(ErrorCode::kInvalidArgument, "low must be less than high, got 3 and 3",
               [] { Randint::call(3, {3}, Dims{1}); });
  manual_seed(5);
  const Tensor b = Zeros::call({8}, DType::kInt64);
  EXPECT_EQ(values(RandomInPlace::call(b, 0, 10)), values(a));
}

TEST(Random, NeedsAFloatingDtype) {
  expect_error(ErrorCode::kDtypeMismatch, "[rand]", [] { Rand::call({2}, DType::kInt64); });
  expect_error(ErrorCode::kDtypeMismatch, "[uniform_]",
               [] { UniformInPlace::call(Zeros::call({2}, DType::kInt64)); });
  const Tensor x = Zeros::call({2});
  expect_error(ErrorCode::kInvalidArgument, "uniform_", [&] { UniformInPlace::call(x, 1, 0); });
  EXPECT_EQ(x.version(), 0U);
}

TEST(Random, InPlaceFillsCutTheGradientOff) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = call<op::Mul>(x, 2);
  NormalInPlace::call(Narrow::call(y, 0, 0, 2));
  backward({sum(y)});
  EXPECT_EQ(values(grad(x)), (Values{0, 0, 2}));
  expect_error(ErrorCode::kLeafInPlace,
               "a leaf that requires a gradient cannot be changed in place",
               [&] { NormalInPlace::call(x); });
}

TEST(Bernoulli, IsSureAtTheEnds) {
  EXPECT_EQ(values(Bernoulli::call(tensor({0, 1, 1, 0}))), (Values{0, 1, 1, 0}));
  EXPECT_EQ(values(BernoulliInPlace::call(Zeros::call({3}), 1)), (Values{1, 1, 1}));
  expect_error(ErrorCode::kInvalidArgument, "bernoulli_",
               [] { BernoulliInPlace::call(Zeros::call({3}), 1.5); });
}

TEST(Dropout, ScalesWhatItKeeps) {
  manual_seed(1);
  const Tensor x = leaf(std::vector<float>(1000, 1.0F));
  const Tensor y = Dropout::call(x, 0.2);
  std::int64_t kept = 0;
  for (const double v : values(y)) {
    EXPECT_TRUE(v == 0 || v == 1.25) << v;
    kept += v != 0 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(kept), 800, 60);
  backward({sum(y)});
  EXPECT_EQ(values(grad(x)), values(y));
}

TEST(Dropout, UsesTheMaskOfBernoulli) {
  manual_seed(7);
  const Tensor mask = BernoulliInPlace::call(Zeros::call({20}), 0.75);
  manual_seed(7);
  const Tensor y = Dropout::call(Ones::call({20}), 0.25);
  EXPECT_EQ(values(call<op::Gt>(y, 0)), values(mask));
}

TEST(Dropout, DoesNothingOutsideOfTraining) {
  const Tensor x = leaf({1, 2});
  EXPECT_TRUE(Dropout::call(x, 0.5, false).is_same(x));
  EXPECT_TRUE(Dropout::call(x, 0).is_same(x));
  EXPECT_EQ(values(Dropout::call(x, 1)), (Values{0, 0}));
  EXPECT_TRUE(
      std::isnan(values(Dropout::call(tensor({std::numeric_limits<float>::quiet_NaN()}), 1))[0]));
  expect_error(ErrorCode::kInvalidArgument, "p must be in [0, 1], got 1.5",
               [&] { Dropout::call(x, 1.5); });
}

TEST(Dropout, DifferentiatesTwice) {
  EXPECT_TRUE(testing::gradcheck_one(
      [](auto& in) {
        manual_seed(2);
        return Dropout::call(call<op::Mul>(in[0], in[0]), 0.4);
      },
      {testing::random_leaf({3, 4}, 1)}));
}

}  // namespace
}  // namespace eg
