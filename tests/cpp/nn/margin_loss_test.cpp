// Losses with margins and negative log likelihoods: hand-computed values, and refused inputs.

#include "ops/loss/margin_loss.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/loss/likelihood_loss.h"
#include "support/errors.h"
#include "support/expect_near.h"
#include "support/gradcheck.h"
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
using Classes = std::int64_t;

constexpr Reduction kEach = Reduction::kNone;

void expect_margins(const Tensor& actual, const Values& expected) {
  testing::expect_near(actual, expected, 1e-9);
}

TEST(MarginRankingLoss, CountsWhatLacksToTheMargin) {
  const Tensor a = tensor<double>({0.5, -2, 3});
  const Tensor b = tensor<double>({1, 1, 1});
  const Tensor y = tensor<double>({1, -1, -1});
  expect_margins(MarginRankingLoss::call(a, b, y, 0.25, kEach), {0.75, 0, 2.25});
  expect_margins(MarginRankingLoss::call(a, b, y), {2.5 / 3});
  expect_error(ErrorCode::kShapeMismatch,
               "the same number of dimensions, got shapes [3], [3] and []",
               [&] { MarginRankingLoss::call(a, b, tensor<double>({1}, {})); });
}

TEST(HingeEmbeddingLoss, TakesTheDistanceOrWhatItLacks) {
  const Tensor x = tensor<double>({0.5, -2, 3});
  const Tensor y = tensor<double>({1, -1, -1});
  expect_margins(HingeEmbeddingLoss::call(x, y, 1, kEach), {0.5, 3, 0});
  expect_margins(HingeEmbeddingLoss::call(x, y, 4, Reduction::kSum), {7.5});
}

TEST(SoftMarginLoss, IsTheLogisticLoss) {
  expect_margins(SoftMarginLoss::call(tensor<double>({0, 2}), tensor<double>({1, -1}), kEach),
                 {std::log(2), std::log1p(std::exp(2))});
}

TEST(CosineEmbeddingLoss, OfAlikeAndUnlikePairs) {
  const Tensor a = tensor<double>({1, 0, 3, 4, 1, 1}, {3, 2});
  const Tensor b = tensor<double>({0, 2, 4, 3, 1, 1}, {3, 2});
  // The cosines are 0, 24 / 25 and 1.
  expect_margins(CosineEmbeddingLoss::call(a, b, tensor<Classes>({1, -1, -1}), 0.5, kEach),
                 {1, 0.46, 0.5});
  expect_margins(CosineEmbeddingLoss::call(tensor<double>({3, 4}), tensor<double>({4, 3}),
                                           tensor<Classes>({1}, {})),
                 {0.04});
  const auto loss = [](const TensorList& in) {
    return CosineEmbeddingLoss::call(in[0], in[1], tensor<Classes>({1, -1, -1}), -0.9);
  };
  EXPECT_TRUE(gradcheck_one(loss, {random_leaf({3, 4}, 1), random_leaf({3, 4}, 2)}));
  expect_error(ErrorCode::kShapeMismatch,
               "one dimension more than target, 2, got shapes [1] and [1]",
               [] { CosineEmbeddingLoss::call(tensor({1}), tensor({1}), tensor({1})); });
}

TEST(TripletMarginLoss, ComparesDistances) {
  const Tensor anchor = tensor<double>({0, 0}, {1, 2});
  const Tensor positive = tensor<double>({3, 4}, {1, 2});
  const Tensor negative = tensor<double>({0, 5.5}, {1, 2});
  EXPECT_NEAR(value(TripletMarginLoss::call(anchor, positive, negative, 1, 2, 0)), 0.5, 1e-12);
  EXPECT_NEAR(value(TripletMarginLoss::call(anchor, positive, negative, 1, 1, 0)), 2.5, 1e-12);
  // The distance of positive and negative is only the root of 11.25.
  EXPECT_NEAR(value(TripletMarginLoss::call(anchor, positive, negative, 1, 2, 0, true)),
              6 - std::sqrt(11.25), 1e-12);
  expect_error(ErrorCode::kInvalidArgument, "margin must be positive",
               [&] { TripletMarginLoss::call(anchor, positive, negative, 0); });
  expect_error(ErrorCode::kShapeMismatch, "the same number of dimensions, got 2, 1 and 2",
               [&] { TripletMarginLoss::call(anchor, tensor<double>({1, 2}), negative); });
}

TEST(MultiMarginLoss, SumsOverTheOtherClasses) {
  const Tensor x = tensor<double>({0.1, 0.2, 0.4, 0.8}, {1, 4});
  const Tensor y = tensor<Classes>({3});
  EXPECT_NEAR(value(MultiMarginLoss::call(x, y)), (0.3 + 0.4 + 0.6) / 4, 1e-12);
  EXPECT_NEAR(value(MultiMarginLoss::call(x, y, 2)), (0.09 + 0.16 + 0.36) / 4, 1e-12);
  EXPECT_NEAR(value(MultiMarginLoss::call(x, y, 1, 0.5, tensor<double>({1, 1, 1, 2}))), 0.2 / 4,
              1e-12);
  const Tensor one = tensor<double>({1, 3});
  EXPECT_NEAR(value(MultiMarginLoss::call(one, tensor<Classes>({0}, {}))), 1.5, 1e-12);
}

TEST(MultiMarginLoss, HasNoGradientJustAtTheMargin) {
  const Tensor x = leaf<double>({1, 0, 0.5}, {1, 3});
  backward({MultiMarginLoss::call(x, tensor<Classes>({0}), 1, 1)});
  expect_margins(grad(x), {-1.0 / 3, 0, 1.0 / 3});
}

TEST(MultiMarginLoss, ReportsWhatItCannotTake) {
  const Tensor x = tensor({1, 2, 3, 4}, {2, 2});
  expect_error(ErrorCode::kInvalidArgument, "p must be 1 or 2, got 3",
               [&] { MultiMarginLoss::call(x, tensor<Classes>({0, 1}), 3); });
  expect_error(ErrorCode::kShapeMismatch,
               "target must have shape [2] for input of shape [2, 2], got [3]",
               [&] { MultiMarginLoss::call(x, tensor<Classes>({0, 1, 1})); });
  expect_error(ErrorCode::kShapeMismatch, "weight must have shape [2], got [3]",
               [&] { MultiMarginLoss::call(x, tensor<Classes>({0, 1}), 1, 1, tensor({1, 2, 3})); });
  expect_error(ErrorCode::kDtypeMismatch, "target must be int64, got float32",
               [&] { MultiMarginLoss::call(x, tensor({0, 1})); });
}

// PyTorch's example.
TEST(MultilabelMarginLoss, ReadsClassesUpToTheFirstNegativeNumber) {
  const Tensor x = tensor<double>({0.1, 0.2, 0.4, 0.8}, {1, 4});
  const Tensor y = tensor<Classes>({3, 0, -1, 1}, {1, 4});
  EXPECT_NEAR(value(MultilabelMarginLoss::call(x, y)), 0.85, 1e-12);
  const Tensor none = tensor<Classes>({-1, 3, 0, 1}, {1, 4});
  EXPECT_EQ(value(MultilabelMarginLoss::call(x, none)), 0);
  const auto loss = [&](const TensorList& in) { return MultilabelMarginLoss::call(in[0], y); };
  EXPECT_TRUE(gradcheck_one(loss, {random_leaf({1, 4}, 3)}));
  expect_error(ErrorCode::kShapeMismatch,
               "target must have shape [1, 4] for input of shape [1, 4], got [1, 1]",
               [&] { MultilabelMarginLoss::call(x, tensor<Classes>({3}, {1, 1})); });
}

TEST(MultilabelSoftMarginLoss, IsTheMeanOverIndependentClasses) {
  const Tensor x = tensor<double>({0, 1, 2, -1}, {2, 2});
  const Tensor y = tensor<double>({1, 0, 1, 0}, {2, 2});
  const Values each{std::log(2), std::log1p(std::exp(1)), std::log1p(std::exp(-2)),
                    std::log1p(std::exp(-1))};
  expect_margins(MultilabelSoftMarginLoss::call(x, y, {}, kEach),
                 {(each[0] + each[1]) / 2, (each[2] + each[3]) / 2});
  expect_margins(MultilabelSoftMarginLoss::call(x, y, tensor<double>({2, 0})),
                 {(each[0] + each[2]) / 2});
}

TEST(PoissonNllLoss, OfRatesAndOfTheirLogarithms) {
  const Tensor rate = tensor<double>({0.5, 4});
  const Tensor count = tensor<double>({1, 3});
  const Values each{0.5 - std::log(0.5), 4 - 3 * std::log(4)};
  expect_margins(PoissonNllLoss::call(rate, count, false, false, 0, kEach), each);
  expect_margins(PoissonNllLoss::call(log(Var(rate)).tensor(), count), {(each[0] + each[1]) / 2});
  const double stirling = 3 * std::log(3) - 3 + 0.5 * std::log(6 * std::numbers::pi);
  expect_margins(PoissonNllLoss::call(rate, count, false, true, 0, kEach),
                 {each[0], each[1] + stirling});
  // log(0) for a count of zero does not turn the loss into NaN.
  expect_margins(PoissonNllLoss::call(tensor<double>({0}), tensor<double>({0}), true, true), {1});
}

TEST(GaussianNllLoss, WeighsErrorsByTheVariance) {
  const Tensor x = tensor<double>({1, 2, 3, 4}, {2, 2});
  const Tensor y = tensor<double>({2, 2, 1, 4}, {2, 2});
  const Tensor var = tensor<double>({0.5, 1, 2, 4}, {2, 2});
  const Values each{0.5 * (std::log(0.5) + 2), 0, 0.5 * (std::log(2) + 2), 0.5 * std::log(4)};
  expect_margins(GaussianNllLoss::call(x, y, var, false, 1e-6, kEach), each);
  const Values rows = values(GaussianNllLoss::call(x, y, tensor<double>({0.5, 2}), true, 0, kEach));
  EXPECT_NEAR(rows[0], each[0] + 0.5 * std::log(2 * std::numbers::pi), 1e-12);
  EXPECT_NEAR(rows[3], 0.5 * std::log(2) + 0.5 * std::log(2 * std::numbers::pi), 1e-12);
  EXPECT_NEAR(value(GaussianNllLoss::call(x, y, 2, false, 1e-6, Reduction::kSum)),
              0.5 * (4 * std::log(2) + 2.5), 1e-12);
}

TEST(GaussianNllLoss, TakesEpsForASmallerVarianceButDifferentiatesTheVariance) {
  const Tensor var = leaf<double>({0});
  backward({GaussianNllLoss::call(tensor<double>({1}), tensor<double>({1}), var, false, 0.5)});
  expect_margins(grad(var), {1});
  expect_error(ErrorCode::kInvalidArgument, "var must not be negative",
               [] { GaussianNllLoss::call(tensor({1}), tensor({1}), tensor({-1})); });
  expect_error(ErrorCode::kShapeMismatch, "var must have shape [3] or [1], got [2]",
               [] { GaussianNllLoss::call(tensor({1, 2, 3}), tensor({1, 2, 3}), tensor({1, 2})); });
}

}  // namespace
}  // namespace eg
