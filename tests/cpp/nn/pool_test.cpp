// markers: threads

#include "ops/nn/pool.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/create/copy.h"
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

// The two taps are one before the first and one after the last element.
TEST(PoolOps, MaxPoolOfPaddingAloneIsMinusInfinityWithoutAPlaceOrGradient) {
  for (const bool in_rows : {true, false}) {
    const Shape shape = in_rows ? Shape{2, 2, 1} : Shape{2, 1, 2};
    const Dims padding = in_rows ? Dims{1, 0} : Dims{0, 1};
    const Dims dilation = in_rows ? Dims{3, 1} : Dims{1, 3};
    const Dims kernel = in_rows ? Dims{2, 1} : Dims{1, 2};
    const Tensor x = leaf({1, 2, 3, 4}, shape);
    const TensorList both =
        MaxPool2d::call(x, kernel, Dims{1, 1}, padding, dilation, false, true).tensors;
    const double lowest = -std::numeric_limits<double>::infinity();
    EXPECT_EQ(values(both[0]), (List{lowest, lowest}));
    EXPECT_EQ(values(both[1]), (List{-1, -1}));
    const Tensor gradient = leaf({1, 1}, both[0].shape());
    const Tensor grad_x = grad({both[0]}, {x}, {gradient}, {{.create_graph = true}})[0];
    EXPECT_EQ(values(grad_x), (List{0, 0, 0, 0}));
    const Tensor again = grad({grad_x}, {gradient}, {tensor({1, 1, 1, 1}, shape)})[0];
    EXPECT_EQ(values(again), (List{0, 0}));
  }
}

// The index of the largest element of the window whose first tap is at (y, x), or -1.
std::int64_t largest_place(const List& plane, std::int64_t height, std::int64_t width,
                           std::int64_t y, std::int64_t x, std::int64_t dilation) {
  std::int64_t place = -1;
  for (std::int64_t row = y; row < y + 2; ++row) {
    for (std::int64_t column = x; column <= x + 2 * dilation; column += dilation) {
      if (row < 0 || row >= height || column < 0 || column >= width) continue;
      const std::int64_t at = row * width + column;
      if (place < 0 || plane[static_cast<std::size_t>(at)] > plane[static_cast<std::size_t>(place)])
        place = at;
    }
  }
  return place;
}

// Rows with fewer and with more windows than fit a vector, windows shortened by padding, and all
// orders of elements.
TEST(PoolOps, MaxPoolEqualsItsDefinitionOnAnyPlane) {
  constexpr std::int64_t kHeight = 3;
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32}) {
    for (const std::int64_t width : {5, 8, 23}) {
      const Tensor x =
          ToDType::call(testing::generated<double>({1, kHeight, width},
                                                   [](std::int64_t i) { return i * 7 % 11 - 5; }),
                        dtype);
      const List plane = values(x);
      for (const std::int64_t stride : {1, 2, 3}) {
        for (const std::int64_t dilation : {1, 2}) {
          const TensorList both =
              MaxPool2d::call(x, {2, 3}, Dims{1, stride}, {1, 1}, {1, dilation}, false, true)
                  .tensors;
          List largest;
          List places;
          for (std::int64_t y = -1; y <= kHeight - 1; ++y) {
            for (std::int64_t left = -1; left + 2 * dilation <= width; left += stride) {
              const std::int64_t place = largest_place(plane, kHeight, width, y, left, dilation);
              places.push_back(static_cast<double>(place));
              largest.push_back(plane[static_cast<std::size_t>(place)]);
            }
          }
          EXPECT_EQ(values(both[0]), largest);
          EXPECT_EQ(values(both[1]), places);
        }
      }
    }
  }
}

TEST(PoolOps, MaxPoolOfWindowsTooLargeToList) {
  const TensorList both =
      MaxPool2d::call(counted({1, 71, 75}), {70}, Dims{1, 1}, {0}, {1}, false, true).tensors;
  List expected;
  for (std::int64_t y = 69; y < 71; ++y) {
    for (std::int64_t x = 69; x < 75; ++x) expected.push_back(static_cast<double>(y * 75 + x));
  }
  EXPECT_EQ(values(both[0]), expected);
  EXPECT_EQ(values(both[1]), expected);
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
  // A window that would begin in the right padding is left out.
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

TEST(PoolOps, AdaptivePoolingTakesNoChannels) {
  EXPECT_EQ(AdaptiveAvgPool2d::call(tensor<float>({}, {0, 4, 4}), {2}).shape(), (Shape{0, 2, 2}));
  EXPECT_EQ(AdaptiveMaxPool2d::call(tensor<float>({}, {0, 4, 4}), {2}).tensors[0].shape(),
            (Shape{0, 2, 2}));
  EXPECT_EQ(AdaptiveAvgPool2d::call(tensor<float>({}, {2, 0, 4, 4}), {3}).shape(),
            (Shape{2, 0, 3, 3}));
  expect_error(ErrorCode::kShapeMismatch, "3 nonempty dimensions",
               [] { AdaptiveAvgPool2d::call(tensor<float>({}, {2, 1, 0, 4}), {2}); });
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
  expect_error(ErrorCode::kInvalidArgument,
               "padding must be at most half the window, got 2 for kernelSize 2",
               [&] { MaxPool2d::call(x, {2}, {}, {2}); });
  expect_error(ErrorCode::kInvalidArgument, "a window of kernelSize 5 does not fit input of size 4",
               [&] { AvgPool2d::call(x, {5}); });
  expect_error(ErrorCode::kShapeMismatch, "input must have 3 nonempty dimensions",
               [&] { MaxPool2d::call(counted({4}), {2}); });
  expect_error(ErrorCode::kInvalidArgument, "divisorOverride must not be 0",
               [&] { AvgPool2d::call(x, {2}, {}, {0}, false, true, 0); });
  expect_error(ErrorCode::kInvalidArgument, "kernelSize, stride and dilation must be positive",
               [&] { MaxPool2d::call(x, {2}, Dims{0}); });
}

}  // namespace
}  // namespace eg
