#include "ops/nn/channel_norm.h"

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/nn/distance.h"
#include "support/errors.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::leaf;
using testing::tensor;
using testing::values;

void expect_near(const Tensor& actual, const std::vector<double>& expected) {
  const std::vector<double> result = values(actual);
  ASSERT_EQ(result.size(), expected.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    EXPECT_NEAR(result[i], expected[i], 1e-12 * (1 + std::abs(expected[i])));
}

TEST(ChannelNormOps, BatchNormMovesRunningStatisticsByMomentum) {
  const Tensor x = tensor<double>({1, 10, 3, 30}, {2, 2});
  const Tensor mean = tensor<double>({0, 0});
  const Tensor variance = tensor<double>({1, 1});
  const std::uint32_t version = mean.version();
  const Tensor out = BatchNorm::call(x, mean, variance, {}, {}, true, 0.5, 0);
  expect_near(out, {-1, -1, 1, 1});
  expect_near(mean, {1, 10});
  // The unbiased variances are 2 and 200.
  expect_near(variance, {1.5, 100.5});
  EXPECT_GT(mean.version(), version);
}

TEST(ChannelNormOps, BatchNormUsesRunningStatisticsOutsideOfTraining) {
  const Tensor x = tensor<double>({1, 2, 3, 4}, {1, 2, 2});
  const Tensor out = BatchNorm::call(x, tensor<double>({1, 2}), tensor<double>({4, 1}),
                                     tensor<double>({2, 1}), tensor<double>({0, 5}), false, 0.1, 0);
  expect_near(out, {0, 1, 6, 7});
}

TEST(ChannelNormOps, GroupAndInstanceNormAreLayerNormOfParts) {
  const Tensor x = tensor<double>({1, 3, 10, 30}, {1, 2, 2});
  expect_near(
      InstanceNorm::call(x, {}, {}, tensor<double>({1, 2}), tensor<double>({0, 1}), true, 0.1, 0),
      {-1, 1, -1, 3});
  expect_near(GroupNorm::call(x, 2, {}, {}, 0), {-1, 1, -1, 1});
  const Tensor mean = tensor<double>({0, 0});
  const Tensor variance = tensor<double>({1, 1});
  InstanceNorm::call(x, mean, variance, {}, {}, true, 0.5);
  expect_near(mean, {1, 10});
  expect_near(variance, {1.5, 100.5});
}

TEST(ChannelNormOps, EmptyBatchesAreEmpty) {
  const Tensor x = testing::empty({0, 4, 3}, DType::kFloat32);
  EXPECT_EQ(GroupNorm::call(x, 2).shape(), x.shape());
  EXPECT_EQ(InstanceNorm::call(x).shape(), x.shape());
}

TEST(ChannelNormOps, MistakesAreNamed) {
  const Tensor x = tensor({1, 2, 3, 4}, {2, 2});
  expect_error(ErrorCode::kInvalidArgument, "to be defined when training=False",
               [&] { BatchNorm::call(x, {}, {}); });
  expect_error(ErrorCode::kShapeMismatch, "Expected more than 1 value per channel",
               [&] { BatchNorm::call(tensor({1, 2}, {1, 2}), {}, {}, {}, {}, true); });
  expect_error(ErrorCode::kShapeMismatch, "Expected weight to be a vector of size",
               [&] { BatchNorm::call(x, {}, {}, tensor({1}), {}, true); });
  expect_error(ErrorCode::kInvalidArgument, "divisible by num_groups",
               [&] { GroupNorm::call(x, 3); });
  expect_error(ErrorCode::kShapeMismatch, "Expected more than 1 spatial element",
               [&] { InstanceNorm::call(tensor({1, 2}, {1, 2, 1})); });
  expect_error(ErrorCode::kDtypeMismatch, "expected float32 or float64, got int64",
               [&] { GroupNorm::call(tensor<std::int64_t>({1, 2, 3, 4}, {2, 2}), 1); });
}

TEST(DistanceOps, VectorsOfLengthZeroStayZero) {
  expect_near(Normalize::call(tensor<double>({3, 4, 0, 0}, {2, 2})), {0.6, 0.8, 0, 0});
  expect_near(Normalize::call(tensor<double>({3, -1}, {2}), 1, {0}), {0.75, -0.25});
}

TEST(DistanceOps, CosineSimilarityBroadcastsAndGuardsShortVectors) {
  const Tensor x = tensor<double>({1, 0, 3, 4, 0, 0}, {3, 2});
  expect_near(CosineSimilarity::call(x, tensor<double>({1, 0})), {1, 0.6, 0});
  // PyTorch's gradient of a vector shorter than eps: the length counts as eps, but moves.
  const Tensor zero = leaf<double>({0, 0});
  backward({CosineSimilarity::call(zero, tensor<double>({3, 4}), 0)});
  expect_near(grad(zero), {0.6e8, 0.8e8});
}

TEST(DistanceOps, PairwiseDistanceAddsEps) {
  expect_near(PairwiseDistance::call(tensor<double>({3, 4}), tensor<double>({0, 0}), 1, 0.5), {8});
  EXPECT_EQ(
      PairwiseDistance::call(tensor({1, 2}, {1, 2}), tensor({1, 2}, {1, 2}), 2, 1e-6, true).shape(),
      (Shape{1, 1}));
}

TEST(DistanceOps, GluGatesTheFirstHalf) {
  expect_near(Glu::call(tensor<double>({2, 3, 0, std::log(3.0)})), {1, 2.25});
  expect_error(ErrorCode::kShapeMismatch, "Halving dimension must be even, but dimension 0 is size",
               [] { Glu::call(tensor({1, 2, 3})); });
  expect_error(ErrorCode::kShapeMismatch, "glu does not support 0-dimensional tensors",
               [] { Glu::call(leaf(1)); });
}

}  // namespace
}  // namespace eg
