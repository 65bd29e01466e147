#include "ops/loss/loss.h"

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/create/copy.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/view.h"
#include "support/errors.h"
#include "support/expect_near.h"
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
constexpr std::int64_t kIgnored = -100;
constexpr std::array kReductions{Reduction::kNone, Reduction::kMean, Reduction::kSum};

Tensor classes(const std::vector<std::int64_t>& indices, const Shape& shape) {
  return tensor<std::int64_t>(indices, shape);
}
Tensor classes(const std::vector<std::int64_t>& indices) { return tensor<std::int64_t>(indices); }

Values gradient_of(const Tensor& output, const Tensor& input) {
  return values(grad({testing::sum(output)}, {input})[0]);
}

void expect_losses(const Values& actual, const Values& expected, double tolerance = 1e-12) {
  testing::expect_near(actual, expected, tolerance);
}

TEST(CrossEntropy, IsMinusTheLogProbabilityOfTheClass) {
  const double log2 = std::log(2.0);
  const Tensor x = leaf<double>({0, 0, log2, 0}, {2, 2});
  const Tensor target = classes({1, 0});
  expect_losses(values(CrossEntropy::call(x, target, {}, kIgnored, Reduction::kNone)),
                {log2, std::log(1.5)});
  expect_losses(values(CrossEntropy::call(x, target)), {(log2 + std::log(1.5)) / 2});
  expect_losses(gradient_of(CrossEntropy::call(x, target), x), {0.25, -0.25, -1.0 / 6, 1.0 / 6});
}

TEST(CrossEntropy, IsNllOfLogSoftmax) {
  const Tensor weight = tensor<double>({0.5, 2, 1});
  const Tensor flat = classes({2, 0, 1, kIgnored});
  const Tensor grid = classes({2, 0, 1, kIgnored, 1, 1, 0, 2, 2, 0}, {2, 5});
  for (const Reduction reduction : kReductions) {
    for (const auto& [x, target] :
         {std::pair{random_leaf({4, 3}, 1), flat}, {random_leaf({2, 3, 5}, 2), grid}}) {
      const Tensor fused = CrossEntropy::call(x, target, weight, kIgnored, reduction);
      const Tensor composed =
          NllLoss::call(LogSoftmax::call(x, 1), target, weight, kIgnored, reduction);
      expect_losses(values(fused), values(composed));
      expect_losses(gradient_of(fused, x), gradient_of(composed, x));
    }
  }
}

TEST(CrossEntropy, SmoothingMovesMassFromTheTargetToAllClasses) {
  const Tensor x = random_leaf({2, 3, 5}, 2);
  const Tensor target = classes({2, 0, 1, 1, 1, 1, 0, 2, 2, 0}, {2, 5});
  // The same target, written as probabilities.
  const std::vector<double> chosen = values(target);
  const Tensor one_hot = testing::generated<double>(x.shape(), [&](std::int64_t i) {
    const std::int64_t position = i / 15 * 5 + i % 5;
    return chosen[static_cast<std::size_t>(position)] == static_cast<double>(i / 5 % 3) ? 1 : 0;
  });
  for (const Reduction reduction : kReductions) {
    const Tensor by_index = CrossEntropy::call(x, target, {}, kIgnored, reduction, 0.2);
    const Tensor by_probability = CrossEntropy::call(x, one_hot, {}, kIgnored, reduction, 0.2);
    expect_losses(values(by_index), values(by_probability));
    expect_losses(gradient_of(by_index, x), gradient_of(by_probability, x));
  }
}

TEST(CrossEntropy, AgreesBetweenDtypesAndLayouts) {
  const Tensor x = random_leaf({6, 40}, 9);
  const Tensor target = classes({0, 39, 17, 4, 4, 25});
  const double expected = value(CrossEntropy::call(x, target));
  EXPECT_NEAR(value(CrossEntropy::call(ToDType::call(x, DType::kFloat32), target)), expected, 1e-6);
  const Tensor transposed = Transpose::call(contiguous_copy(Transpose::call(x, 0, 1)), 0, 1);
  EXPECT_NEAR(value(CrossEntropy::call(transposed, target)), expected, 1e-12);
  EXPECT_NEAR(value(CrossEntropy::call(x, ToDType::call(target, DType::kInt32))), expected, 1e-12);
}

TEST(CrossEntropy, TakesAnInputWithoutABatch) {
  const Tensor x = leaf<double>({0, 0}, {2});
  const Tensor loss = CrossEntropy::call(x, classes({1}, {}));
  EXPECT_EQ(loss.shape(), Shape{});
  EXPECT_NEAR(value(loss), std::log(2.0), 1e-15);
  expect_losses(gradient_of(loss, x), {0.5, -0.5});
}

TEST(CrossEntropy, OfIgnoredPositionsOnlyIsNanWithoutAGradient) {
  const Tensor x = leaf<double>({1, 2}, {1, 2});
  const Tensor loss = CrossEntropy::call(x, classes({kIgnored}));
  EXPECT_TRUE(std::isnan(value(loss)));
  expect_losses(gradient_of(loss, x), {0, 0});
  EXPECT_EQ(value(CrossEntropy::call(x, classes({1}), {}, 1, Reduction::kSum)), 0);
}

TEST(CrossEntropy, KeepsItsDigitsForLargeScores) {
  const Tensor x = leaf({10000, 10001}, {1, 2});
  const Tensor loss = CrossEntropy::call(x, classes({1}));
  EXPECT_NEAR(value(loss), std::log1p(std::exp(-1.0)), 1e-6);
  EXPECT_NEAR(gradient_of(loss, x)[0], 1 / (1 + std::exp(1.0)), 1e-6);
  EXPECT_EQ(value(CrossEntropy::call(tensor<double>({0, -kInfinity}, {1, 2}), classes({1}))),
            kInfinity);
}

TEST(CrossEntropy, DerivativesAreRight) {
  const Tensor weight = tensor<double>({0.5, 2, 1});
  const Tensor grid = classes({2, 0, 1, kIgnored, 1, 1, 0, 2, 2, 0}, {2, 5});
  for (const Reduction reduction : kReductions) {
    for (const double smoothing : {0.0, 0.3}) {
      EXPECT_TRUE(gradcheck_one(
          [&](const TensorList& in) {
            return CrossEntropy::call(in[0], classes({2, kIgnored, 0, 1}), weight, kIgnored,
                                      reduction, smoothing);
          },
          {random_leaf({4, 3}, 3)}));
      EXPECT_TRUE(gradcheck_one(
          [&](const TensorList& in) {
            return CrossEntropy::call(in[0], grid, weight, kIgnored, reduction, smoothing);
          },
          {random_leaf({2, 3, 5}, 3)}));
      EXPECT_TRUE(gradcheck_one(
          [&](const TensorList& in) {
            return CrossEntropy::call(in[0], in[1], weight, kIgnored, reduction, smoothing);
          },
          {random_leaf({4, 3}, 3), random_leaf({4, 3}, 4, 0, 1)}));
    }
  }
}

TEST(CrossEntropy, NamesWhatIsWrong) {
  const Tensor x = random_leaf({2, 3}, 1);
  expect_error(ErrorCode::kIndexOutOfRange, "target 3 is not a class: there are 3 classes.",
               [&] { CrossEntropy::call(x, classes({0, 3})); });
  expect_error(ErrorCode::kIndexOutOfRange, "target -1 is not a class",
               [&] { NllLoss::call(x, classes({0, -1})); });
  expect_error(ErrorCode::kShapeMismatch, "the same batch size, got 2 and 3.",
               [&] { CrossEntropy::call(x, classes({0, 1, 2})); });
  expect_error(ErrorCode::kShapeMismatch, "each of the 3 classes, got shape [2]",
               [&] { CrossEntropy::call(x, classes({0, 1}), tensor<double>({1, 2})); });
  expect_error(ErrorCode::kDtypeMismatch, "probabilities as floating-point numbers, got int64",
               [&] { CrossEntropy::call(x, classes({0, 1, 2, 0, 1, 2}, {2, 3})); });
  expect_error(ErrorCode::kInvalidArgument,
               "ignoreIndex is only supported for a target of class indices",
               [&] { CrossEntropy::call(x, x, {}, 0); });
  expect_error(ErrorCode::kInvalidArgument, "labelSmoothing must be in [0, 1], got 2",
               [&] { CrossEntropy::call(x, classes({0, 1}), {}, kIgnored, Reduction::kMean, 2); });
}

TEST(NllLoss, PicksAndWeighsLogProbabilities) {
  const Tensor x = leaf<double>({-1, -2, -kInfinity, -3}, {2, 2});
  const Tensor weight = tensor<double>({1, 3});
  expect_losses(values(NllLoss::call(x, classes({1, 1}), weight, kIgnored, Reduction::kNone)),
                {6, 9});
  EXPECT_EQ(value(NllLoss::call(x, classes({0, 1}), weight)), 2.5);
  expect_losses(gradient_of(NllLoss::call(x, classes({0, 1}), weight), x), {-0.25, 0, 0, -0.75});
  EXPECT_TRUE(gradcheck_one(
      [&](const TensorList& in) {
        return NllLoss::call(in[0], classes({0, 1}), weight, kIgnored, Reduction::kNone);
      },
      {random_leaf({2, 2}, 3)}));
}

TEST(MseLoss, IsTheMeanSquare) {
  const Tensor x = leaf({1, 2, 5});
  const Tensor target = leaf({0, 2, 2});
  EXPECT_FLOAT_EQ(static_cast<float>(value(MseLoss::call(x, target))), 10.0F / 3);
  EXPECT_EQ(values(MseLoss::call(x, target, Reduction::kNone)), (Values{1, 0, 9}));
  EXPECT_EQ(gradient_of(MseLoss::call(x, target, Reduction::kSum), x), (Values{2, 0, 6}));
  EXPECT_EQ(gradient_of(MseLoss::call(x, target, Reduction::kSum), target), (Values{-2, 0, -6}));
  expect_error(ErrorCode::kShapeMismatch, "cannot be broadcast together",
               [&] { MseLoss::call(x, tensor({1, 2})); });
}

TEST(RobustLosses, ChangeFromSquareToAbsolute) {
  const Tensor x = leaf<double>({0.2, -3, 0});
  const Tensor zero = tensor<double>({0, 0, 0});
  expect_losses(values(L1Loss::call(x, zero, Reduction::kNone)), {0.2, 3, 0});
  expect_losses(gradient_of(L1Loss::call(x, zero, Reduction::kSum), x), {1, -1, 0});
  expect_losses(values(SmoothL1Loss::call(x, zero, Reduction::kNone, 0.5)), {0.04, 2.75, 0});
  expect_losses(gradient_of(SmoothL1Loss::call(x, zero, Reduction::kSum, 0.5), x), {0.4, -1, 0});
  expect_losses(values(SmoothL1Loss::call(x, zero, Reduction::kNone, 0)), {0.2, 3, 0});
  expect_losses(values(HuberLoss::call(x, zero, Reduction::kNone, 2)), {0.02, 4, 0});
  expect_losses(gradient_of(HuberLoss::call(x, zero, Reduction::kSum, 2), x), {0.2, -2, 0});
  expect_error(ErrorCode::kInvalidArgument, "beta must not be negative, got -1",
               [&] { SmoothL1Loss::call(x, zero, Reduction::kMean, -1); });
  expect_error(ErrorCode::kInvalidArgument, "delta must be positive, got 0",
               [&] { HuberLoss::call(x, zero, Reduction::kMean, 0); });
}

TEST(BinaryCrossEntropy, CutsLogarithmsOff) {
  const Tensor x = leaf<double>({0.5, 0, 1});
  const Tensor target = tensor<double>({1, 1, 0});
  expect_losses(values(BinaryCrossEntropy::call(x, target, {}, Reduction::kNone)),
                {std::log(2.0), 100, 100});
  expect_error(ErrorCode::kInvalidArgument, "probabilities in [0, 1]",
               [&] { BinaryCrossEntropy::call(tensor<double>({0.5, 1.5, 0}), target); });
  expect_error(ErrorCode::kShapeMismatch, "the same shape, got [3] and [1]",
               [&] { BinaryCrossEntropy::call(x, tensor<double>({1})); });
}

TEST(BinaryCrossEntropyWithLogits, IsStableAndWeighsPositives) {
  const Tensor x = leaf<double>({0, 1000, -1000});
  const Tensor target = tensor<double>({1, 0, 1});
  const auto losses = [&](const std::optional<Tensor>& weight,
                          const std::optional<Tensor>& positive) {
    return values(
        BinaryCrossEntropyWithLogits::call(x, target, weight, Reduction::kNone, positive));
  };
  expect_losses(losses({}, {}), {std::log(2.0), 1000, 1000});
  expect_losses(losses(tensor<double>({2, 1, 0}), {}), {2 * std::log(2.0), 1000, 0});
  expect_losses(losses({}, tensor<double>({3})), {3 * std::log(2.0), 1000, 3000});
  expect_losses(gradient_of(BinaryCrossEntropyWithLogits::call(x, target, {}, Reduction::kSum), x),
                {-0.5, 1, -1});
  expect_error(ErrorCode::kShapeMismatch, "the same shape, got [3] and [1]",
               [&] { BinaryCrossEntropyWithLogits::call(x, tensor<double>({1})); });
}

TEST(KlDiv, IsZeroBetweenEqualDistributions) {
  const Tensor target = tensor<double>({0.5, 0.5, 0, 1}, {2, 2});
  const Tensor same = tensor<double>({std::log(0.5), std::log(0.5), -50, 0}, {2, 2});
  EXPECT_NEAR(value(KlDiv::call(same, target)), 0, 1e-15);
  const Tensor x = leaf<double>({-1, -2, -3, -4}, {2, 2});
  const Tensor log_target = tensor<double>({-1, -1, 0, 0}, {2, 2});
  EXPECT_NEAR(value(KlDiv::call(x, log_target, KlReduction::kSum, true)), std::exp(-1.0) + 7,
              1e-12);
  EXPECT_NEAR(value(KlDiv::call(x, log_target, KlReduction::kBatchmean, true)),
              (std::exp(-1.0) + 7) / 2, 1e-12);
  EXPECT_NEAR(value(KlDiv::call(x, log_target, KlReduction::kMean, true)), (std::exp(-1.0) + 7) / 4,
              1e-12);
}

TEST(ElementwiseLosses, DerivativesAreRight) {
  const Tensor x = random_leaf({2, 3}, 1);
  const Tensor target = random_leaf({2, 3}, 2);
  const Tensor probability = random_leaf({2, 3}, 3, 0.1, 0.9);
  const Tensor share = random_leaf({2, 3}, 4, 0.1, 0.9);
  const Tensor weight = tensor<double>({0.5, 2, 1});
  const Tensor positive = random_leaf({3}, 5, 0.5, 2);
  for (const Reduction reduction : kReductions) {
    const auto check = [&](const std::function<Tensor(const TensorList&)>& loss,
                           const TensorList& inputs) { EXPECT_TRUE(gradcheck_one(loss, inputs)); };
    check([&](auto& in) { return MseLoss::call(in[0], in[1], reduction); }, {x, target});
    check([&](auto& in) { return L1Loss::call(in[0], in[1], reduction); }, {x, target});
    check([&](auto& in) { return SmoothL1Loss::call(in[0], in[1], reduction, 0.7); }, {x, target});
    check([&](auto& in) { return HuberLoss::call(in[0], in[1], reduction, 0.7); }, {x, target});
    check([&](auto& in) { return BinaryCrossEntropy::call(in[0], in[1], weight, reduction); },
          {probability, share});
    check(
        [&](auto& in) {
          return BinaryCrossEntropyWithLogits::call(in[0], in[1], weight, reduction, in[2]);
        },
        {x, share, positive});
  }
  for (const bool log_target : {false, true}) {
    EXPECT_TRUE(gradcheck_one(
        [&](const TensorList& in) {
          return KlDiv::call(in[0], in[1], KlReduction::kBatchmean, log_target);
        },
        {x, share}));
  }
}

}  // namespace
}  // namespace eg
