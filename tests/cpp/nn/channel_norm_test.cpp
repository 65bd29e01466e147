// markers: threads

#include "ops/nn/channel_norm.h"

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "dispatch/factories.h"
#include "dispatch/var.h"
#include "ops/nn/distance.h"
#include "ops/nn/norm.h"
#include "ops/reduce/reduction.h"
#include "ops/reduce/statistics.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "runtime/thread_pool.h"
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
using testing::values;

void expect_normalized(const Tensor& actual, const std::vector<double>& expected) {
  testing::expect_close(actual, expected, 1e-12);
}

TEST(ChannelNormOps, BatchNormMovesRunningStatisticsByMomentum) {
  const Tensor x = tensor<double>({1, 10, 3, 30}, {2, 2});
  const Tensor mean = tensor<double>({0, 0});
  const Tensor variance = tensor<double>({1, 1});
  const std::uint32_t version = mean.version();
  const Tensor out = BatchNorm::call(x, mean, variance, {}, {}, true, 0.5, 0);
  expect_normalized(out, {-1, -1, 1, 1});
  expect_normalized(mean, {1, 10});
  // The unbiased variances are 2 and 200.
  expect_normalized(variance, {1.5, 100.5});
  EXPECT_GT(mean.version(), version);
}

// Channels whose elements are not adjacent, or that are as long as a vector, a little longer, or
// several blocks of a sum; few and many samples; with and without parameters.
TEST(ChannelNormOps, BatchNormIsTheLayerNormOfChannels) {
  for (const Shape& shape : {Shape{5, 3}, Shape{4, 3, 1}, Shape{2, 3, 3, 5}, Shape{2, 3, 16},
                             Shape{3, 2, 17}, Shape{1, 2, 2, 3}, Shape{2, 1, 67, 67}}) {
    const std::int64_t channels = shape[1];
    const Tensor x = random_leaf(shape, 7);
    const Tensor weight = random_leaf({channels}, 8);
    const Tensor bias = random_leaf({channels}, 9);
    const Tensor first = contiguous_copy(Transpose::call(detach(x), 0, 1));
    const std::int64_t width = first.numel() / channels;
    const Tensor normal = LayerNorm::call(first.alias({channels, width}, {width, 1}, 0), {width});
    const Tensor mean = full({channels}, 0, DType::kFloat64, default_device());
    const Tensor variance = full({channels}, 0, DType::kFloat64, default_device());
    const Tensor out = BatchNorm::call(x, mean, variance, weight, bias, true, 1);
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      const Var expected =
          Var(Select::call(normal, 0, channel)) * Select::call(detach(weight), 0, channel) +
          Select::call(detach(bias), 0, channel);
      expect_normalized(
          contiguous_copy(Select::call(Transpose::call(detach(out), 0, 1), 0, channel)),
          values(expected.tensor()));
    }
    const Tensor rows = first.alias({channels, width}, {width, 1}, 0);
    expect_normalized(mean, values(Mean::call(rows, Dims{1})));
    expect_normalized(variance, values(Variance::call(rows, Dims{1})));
    if (x.numel() > 100) continue;
    const auto norm = [](const TensorList& in) {
      return BatchNorm::call(in[0], {}, {}, in.size() > 1 ? std::optional(in[1]) : std::nullopt,
                             in.size() > 2 ? std::optional(in[2]) : std::nullopt, true);
    };
    EXPECT_TRUE(gradcheck_one(norm, {x}));
    EXPECT_TRUE(gradcheck_one(norm, {x, weight, bias}));
    EXPECT_TRUE(gradcheck_one(norm, {detach(x), weight, bias}));
  }
}

TEST(ChannelNormOps, BatchNormReadsAnyStridesAndOffsets) {
  const Tensor block = detach(random_leaf({3, 6, 5, 4}, 10));
  const Tensor view = block.alias({5, 4, 3, 3}, {4, 1, 120, 20}, 60);
  // A device's reductions may add in memory order.
  expect_normalized(BatchNorm::call(view, {}, {}, {}, {}, true),
                    values(BatchNorm::call(contiguous_copy(view), {}, {}, {}, {}, true)));
  // Parameters that are not contiguous, which backward reads again.
  const auto gradient = [&](const Tensor& weight) {
    const Tensor x = contiguous_copy(view);
    set_requires_grad(x, true);
    backward({BatchNorm::call(x, {}, {}, weight, weight, true)}, {view});
    return values(grad(x));
  };
  const Tensor every_fifth = block.alias({4}, {5}, 3);
  EXPECT_EQ(gradient(every_fifth), gradient(contiguous_copy(every_fifth)));
}

// A channel around ten thousand whose elements differ only by about one.
TEST(ChannelNormOps, LargeOffsetsDoNotSpoilTheVariance) {
  const Tensor x = testing::generated<float>(
      {4, 2, 300}, [](std::int64_t i) { return 10000.0F + static_cast<float>(i % 2); });
  const Tensor variance = tensor({0, 0});
  const std::vector<double> out =
      values(BatchNorm::call(x, tensor({0, 0}), variance, {}, {}, true, 1));
  EXPECT_NEAR(out[0], -1, 2e-3);
  EXPECT_NEAR(out[1], 1, 2e-3);
  EXPECT_NEAR(values(variance)[0], 0.25 * 1200 / 1199, 1e-6);
}

TEST(ChannelNormOps, BatchNormDoesNotDependOnTheNumberOfThreads) {
  const auto run = [](const Shape& shape) {
    const Tensor x = testing::generated<float>(
        shape, [](std::int64_t i) { return std::sin(static_cast<float>(i)); });
    set_requires_grad(x, true);
    const Tensor weight = leaf(std::vector<float>(9, 0.7F));
    const Tensor bias = leaf(std::vector<float>(9, 0.1F));
    const Tensor out = BatchNorm::call(x, {}, {}, weight, bias, true);
    backward({out}, {detach(x)});
    return std::vector{values(out), values(grad(x)), values(grad(weight)), values(grad(bias))};
  };
  for (const Shape& shape : {Shape{20, 9, 31, 33}, Shape{20000, 9}}) {
    const auto alone = run(shape);
    set_num_threads(4);
    const auto shared = run(shape);
    set_num_threads(1);
    EXPECT_EQ(alone, shared);
  }
}

TEST(ChannelNormOps, BatchNormIsRecordedAsPyTorchRecordsIt) {
  if (!default_device().is_cpu()) GTEST_SKIP() << "a device composes it of ops";
  const Tensor out = BatchNorm::call(leaf({1, 2, 3, 4}, {2, 2}), {}, {}, {}, {}, true);
  EXPECT_EQ(grad_fn(out)->name(), "NativeBatchNormBackward0");
}

TEST(ChannelNormOps, BatchNormTakesParametersOfAnotherDtype) {
  const Tensor x = leaf<double>({1, 10, 3, 30}, {2, 2});
  expect_normalized(BatchNorm::call(x, {}, {}, tensor({2, 1}), tensor({0, 1}), true, 0.1, 0),
                    {-2, 0, 2, 2});
}

TEST(ChannelNormOps, BatchNormUsesRunningStatisticsOutsideOfTraining) {
  const Tensor x = tensor<double>({1, 2, 3, 4}, {1, 2, 2});
  const Tensor out = BatchNorm::call(x, tensor<double>({1, 2}), tensor<double>({4, 1}),
                                     tensor<double>({2, 1}), tensor<double>({0, 5}), false, 0.1, 0);
  expect_normalized(out, {0, 1, 6, 7});
}

TEST(ChannelNormOps, GroupAndInstanceNormAreLayerNormOfParts) {
  const Tensor x = tensor<double>({1, 3, 10, 30}, {1, 2, 2});
  expect_normalized(
      InstanceNorm::call(x, {}, {}, tensor<double>({1, 2}), tensor<double>({0, 1}), true, 0.1, 0),
      {-1, 1, -1, 3});
  expect_normalized(GroupNorm::call(x, 2, {}, {}, 0), {-1, 1, -1, 1});
  const Tensor mean = tensor<double>({0, 0});
  const Tensor variance = tensor<double>({1, 1});
  InstanceNorm::call(x, mean, variance, {}, {}, true, 0.5);
  expect_normalized(mean, {1, 10});
  expect_normalized(variance, {1.5, 100.5});
}

TEST(ChannelNormOps, EmptyBatchesAreEmpty) {
  const Tensor x = testing::empty({0, 4, 3}, DType::kFloat32);
  EXPECT_EQ(GroupNorm::call(x, 2).shape(), x.shape());
  EXPECT_EQ(InstanceNorm::call(x).shape(), x.shape());
}

TEST(ChannelNormOps, MistakesAreNamed) {
  const Tensor x = tensor({1, 2, 3, 4}, {2, 2});
  expect_error(ErrorCode::kInvalidArgument, "runningMean and runningVar are required",
               [&] { BatchNorm::call(x, {}, {}); });
  expect_error(ErrorCode::kShapeMismatch,
               "more than one value per channel, got input of shape [1, 2]",
               [&] { BatchNorm::call(tensor({1, 2}, {1, 2}), {}, {}, {}, {}, true); });
  expect_error(ErrorCode::kShapeMismatch,
               "weight must be a vector of one element per channel, got shape [1]",
               [&] { BatchNorm::call(x, {}, {}, tensor({1}), {}, true); });
  expect_error(ErrorCode::kInvalidArgument, "numGroups must divide the number of channels, got 3",
               [&] { GroupNorm::call(x, 3); });
  expect_error(ErrorCode::kShapeMismatch,
               "more than one value per sample, got input of shape [1, 2, 1]",
               [&] { InstanceNorm::call(tensor({1, 2}, {1, 2, 1})); });
  expect_error(ErrorCode::kDtypeMismatch, "expected float32 or float64, got int64",
               [&] { GroupNorm::call(tensor<std::int64_t>({1, 2, 3, 4}, {2, 2}), 1); });
}

TEST(DistanceOps, VectorsOfLengthZeroStayZero) {
  expect_normalized(Normalize::call(tensor<double>({3, 4, 0, 0}, {2, 2})), {0.6, 0.8, 0, 0});
  expect_normalized(Normalize::call(tensor<double>({3, -1}, {2}), 1, {0}), {0.75, -0.25});
}

TEST(DistanceOps, CosineSimilarityBroadcastsAndGuardsShortVectors) {
  const Tensor x = tensor<double>({1, 0, 3, 4, 0, 0}, {3, 2});
  expect_normalized(CosineSimilarity::call(x, tensor<double>({1, 0})), {1, 0.6, 0});
  // As in PyTorch, the length of a vector shorter than eps counts as eps, but still has a gradient.
  const Tensor zero = leaf<double>({0, 0});
  backward({CosineSimilarity::call(zero, tensor<double>({3, 4}), 0)});
  expect_normalized(grad(zero), {0.6e8, 0.8e8});
}

TEST(DistanceOps, PairwiseDistanceAddsEps) {
  expect_normalized(PairwiseDistance::call(tensor<double>({3, 4}), tensor<double>({0, 0}), 1, 0.5),
                    {8});
  EXPECT_EQ(
      PairwiseDistance::call(tensor({1, 2}, {1, 2}), tensor({1, 2}, {1, 2}), 2, 1e-6, true).shape(),
      (Shape{1, 1}));
}

TEST(DistanceOps, GluGatesTheFirstHalf) {
  expect_normalized(Glu::call(tensor<double>({2, 3, 0, std::log(3.0)})), {1, 2.25});
  expect_error(ErrorCode::kShapeMismatch, "dimension 0 must have an even size to be halved, got 3",
               [] { Glu::call(tensor({1, 2, 3})); });
  expect_error(ErrorCode::kShapeMismatch, "at least 1 dimension, got a 0-dim tensor",
               [] { Glu::call(leaf(1)); });
}

}  // namespace
}  // namespace eg
