#include "ops/nn/pool.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "runtime/thread_pool.h"
#include "support/errors.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::leaf;
using testing::tensor;
using testing::values;

using List = std::vector<double>;

Tensor counted(const Shape& shape) {
  return testing::generated<double>(shape, [](std::int64_t i) { return i; });
}

TEST(PoolOps, MaxPoolGivesMaximaAndTheirPlaces) {
  const TensorList both =
      MaxPool2d::call(counted({1, 2, 2, 4}), {2}, {}, {0}, {1}, false, true).tensors;
  EXPECT_EQ(values(both[0]), (List{5, 7, 13, 15}));
  EXPECT_EQ(values(both[1]), (List{5, 7, 5, 7}));
  EXPECT_EQ(both[1].dtype(), DType::kInt64);
}

TEST(PoolOps, MaxPoolOfPaddingAloneIsMinusInfinity) {
  // The two taps are one before the first and one behind the last.
  EXPECT_EQ(values(MaxPool1d::call(tensor({1, 2}, {1, 2}), {2}, Dims{1}, {1}, {3}).tensors[0]),
            (std::vector<double>{-std::numeric_limits<double>::infinity()}));
}

// More columns than fit a vector, windows that padding shortens, and all orders of elements.
TEST(PoolOps, MaxPoolEqualsItsDefinitionOnAnyRow) {
  constexpr std::int64_t kSize = 23;
  const Tensor x =
      testing::generated<float>({1, kSize}, [](std::int64_t i) { return i * 7 % 11 - 5; });
  const std::vector<double> row = values(x);
  for (const std::int64_t stride : {1, 2, 3}) {
    for (const std::int64_t dilation : {1, 2}) {
      const TensorList result =
          MaxPool1d::call(x, {3}, Dims{stride}, {1}, {dilation}, false, true).tensors;
      const std::vector<double> largest = values(result[0]);
      const std::vector<double> places = values(result[1]);
      for (std::size_t i = 0; i < largest.size(); ++i) {
        double expected = -std::numeric_limits<double>::infinity();
        std::int64_t place = -1;
        for (std::int64_t tap = 0; tap < 3; ++tap) {
          const std::int64_t at = static_cast<std::int64_t>(i) * stride - 1 + tap * dilation;
          if (at < 0 || at >= kSize || row[static_cast<std::size_t>(at)] <= expected) continue;
          expected = row[static_cast<std::size_t>(at)];
          place = at;
        }
        EXPECT_EQ(largest[i], expected);
        EXPECT_EQ(places[i], static_cast<double>(place));
      }
    }
  }
}

TEST(PoolOps, MaxPoolTakesTheFirstOfEqualOnesAndNanAboveAll) {
  const Tensor x = leaf({1, 1, 1, 1}, {1, 2, 2});
  backward({MaxPool2d::call(x, {2}).tensors[0]}, {tensor({3}, {1, 1, 1})});
  EXPECT_EQ(values(grad(x)), (List{3, 0, 0, 0}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(values(MaxPool1d::call(tensor({1, nan, 3}, {1, 3}), {3}).tensors[0])[0]));
}

TEST(PoolOps, OverlappingWindowsAddTheirGradients) {
  const Tensor x = leaf({0, 5, 0}, {1, 3});
  backward({MaxPool1d::call(x, {2}, Dims{1}).tensors[0]}, {tensor({2, 3}, {1, 2})});
  EXPECT_EQ(values(grad(x)), (List{0, 5, 0}));
}

TEST(PoolOps, CeilModeKeepsAPartialWindow) {
  const Tensor x = counted({1, 5});
  EXPECT_EQ(values(MaxPool1d::call(x, {2}, Dims{2}).tensors[0]), (List{1, 3}));
  EXPECT_EQ(values(MaxPool1d::call(x, {2}, Dims{2}, {0}, {1}, true).tensors[0]), (List{1, 3, 4}));
  // A window that would begin in the right padding is none.
  EXPECT_EQ(AvgPool1d::call(counted({1, 4}), {2}, Dims{3}, {1}, true).shape(), (Shape{1, 2}));
}

TEST(PoolOps, MaximaOfIntegersKeepTheirDtype) {
  const Tensor x = tensor<std::int32_t>({-5, -3, -7, -9}, {1, 4});
  const TensorList both = MaxPool1d::call(x, {2}, {}, {1}, {1}, false, true).tensors;
  EXPECT_EQ(both[0].dtype(), DType::kInt32);
  EXPECT_EQ(values(both[0]), (List{-5, -3, -9}));
  EXPECT_EQ(values(both[1]), (List{0, 1, 3}));
}

TEST(PoolOps, PaddingNeverWinsAMaximum) {
  EXPECT_EQ(values(MaxPool1d::call(tensor<double>({-1, -2}, {1, 2}), {3}, Dims{1}, {1}).tensors[0]),
            (List{-1, -1}));
}

TEST(PoolOps, AvgPoolCountsPaddingUnlessTold) {
  const Tensor x = tensor<double>({2, 4}, {1, 2});
  EXPECT_EQ(values(AvgPool1d::call(x, {2}, Dims{2}, {1})), (List{1, 2}));
  EXPECT_EQ(values(AvgPool1d::call(x, {2}, Dims{2}, {1}, false, false)), (List{2, 4}));
  EXPECT_EQ(values(AvgPool2d::call(counted({1, 2, 2}), {2}, {}, {0}, false, true, 3)), (List{2}));
}

TEST(PoolOps, AdaptiveWindowsCoverTheInput) {
  const Tensor x = counted({1, 1, 5});
  EXPECT_EQ(values(AdaptiveAvgPool2d::call(x, {1, 3})), (List{0.5, 2, 3.5}));
  EXPECT_EQ(values(AdaptiveMaxPool2d::call(x, {1, 2}).tensors[0]), (List{2, 4}));
}

TEST(PoolOps, AnEmptyBatchIsEmpty) {
  const Tensor x = testing::empty({0, 3, 4, 4}, DType::kFloat32);
  EXPECT_EQ(MaxPool2d::call(x, {2}).tensors[0].shape(), (Shape{0, 3, 2, 2}));
  EXPECT_EQ(AvgPool2d::call(x, {2}).shape(), (Shape{0, 3, 2, 2}));
}

TEST(PoolOps, ResultsDoNotDependOnTheNumberOfThreads) {
  const auto run = [] {
    const Tensor x = counted({4, 8, 40, 40});
    set_requires_grad(x, true);
    const Tensor largest = MaxPool2d::call(x, {3}, Dims{2}, {1}).tensors[0];
    const Tensor mean = AvgPool2d::call(x, {3}, Dims{2}, {1});
    backward({largest, mean}, {detach(largest), detach(mean)});
    return std::vector{values(largest), values(mean), values(grad(x))};
  };
  const auto alone = run();
  set_num_threads(4);
  const auto shared = run();
  set_num_threads(1);
  EXPECT_EQ(alone, shared);
}

TEST(PoolOps, MistakesAreNamed) {
  const Tensor x = counted({1, 4, 4});
  expect_error(ErrorCode::kInvalidArgument, "pad should be at most half of effective kernel size",
               [&] { MaxPool2d::call(x, {2}, {}, {2}); });
  expect_error(ErrorCode::kInvalidArgument, "Output size is too small",
               [&] { AvgPool2d::call(x, {5}); });
  expect_error(ErrorCode::kShapeMismatch, "Expected 3D or 4D (batch mode) tensor",
               [&] { MaxPool2d::call(counted({4}), {2}); });
  expect_error(ErrorCode::kInvalidArgument, "divisor must be not zero",
               [&] { AvgPool2d::call(x, {2}, {}, {0}, false, true, 0); });
  expect_error(ErrorCode::kInvalidArgument, "stride and dilation should be greater than zero",
               [&] { MaxPool2d::call(x, {2}, Dims{0}); });
}

}  // namespace
}  // namespace eg
