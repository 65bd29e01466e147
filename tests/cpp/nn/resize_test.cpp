#include <gtest/gtest.h>

#include "ops/nn/interpolate.h"
#include "ops/nn/pad.h"
#include "support/errors.h"
#include "support/expect_near.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::expect_near;
using testing::tensor;
using testing::values;

using List = std::vector<double>;

TEST(Pad, EveryModeContinuesTheRowInItsWay) {
  const Tensor x = tensor<double>({1, 2, 3}, {1, 3});
  EXPECT_EQ(values(Pad::call(x, {1, 2})), (List{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(values(Pad::call(x, {2, 1}, PadMode::kReflect)), (List{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(values(Pad::call(x, {2, 1}, PadMode::kReplicate)), (List{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(values(Pad::call(x, {2, 1}, PadMode::kCircular)), (List{2, 3, 1, 2, 3, 1}));
}

TEST(Pad, NegativePaddingRemoves) {
  const Tensor x = tensor<double>({1, 2, 3, 4}, {1, 4});
  EXPECT_EQ(values(Pad::call(x, {-1, 1}, PadMode::kConstant, 9)), (List{2, 3, 4, 9}));
  EXPECT_EQ(values(Pad::call(x, {-1, -1}, PadMode::kReplicate)), (List{2, 3}));
  EXPECT_EQ(Pad::call(x, {-2, -2}).shape(), (Shape{1, 0}));
  EXPECT_EQ(values(Pad::call(x, {-6, 4}, PadMode::kConstant, 9)), (List{9, 9}));
}

TEST(Pad, ConstantPaddingTakesEveryDtypeAndShape) {
  const Tensor ints = Pad::call(tensor<std::int64_t>({1, 2}), {0, 1}, PadMode::kConstant, 7);
  EXPECT_EQ(ints.dtype(), DType::kInt64);
  EXPECT_EQ(values(ints), (List{1, 2, 7}));
  EXPECT_EQ(Pad::call(testing::empty({0, 2}, DType::kFloat32), {1, 1, 1, 0}).shape(),
            (Shape{1, 4}));
  EXPECT_EQ(Pad::call(testing::leaf(1), {}).shape(), (Shape{}));
}

TEST(Pad, MistakesAreNamed) {
  const Tensor x = tensor({1, 2, 3}, {1, 3});
  expect_error(ErrorCode::kInvalidArgument, "even number of elements, got [1]",
               [&] { Pad::call(x, {1}); });
  expect_error(ErrorCode::kInvalidArgument,
               "pad has 6 elements, more than two for each of the 2 dimensions",
               [&] { Pad::call(x, {1, 1, 1, 1, 1, 1}); });
  expect_error(ErrorCode::kInvalidArgument,
               "padding (-2, -2) removes more than the size of dimension 1, 3",
               [&] { Pad::call(x, {-2, -2}); });
  expect_error(ErrorCode::kInvalidArgument, "less than the size of dimension 1, got (3, 0)",
               [&] { Pad::call(x, {3, 0}, PadMode::kReflect); });
  expect_error(ErrorCode::kInvalidArgument, "must not exceed the size of dimension 1, got (4, 0)",
               [&] { Pad::call(x, {4, 0}, PadMode::kCircular); });
  expect_error(ErrorCode::kInvalidArgument, "mode 'reflect' does not take a value",
               [&] { Pad::call(x, {1, 0}, PadMode::kReflect, 2); });
  expect_error(ErrorCode::kInvalidArgument,
               "a pad of 4 elements for 2 dimensions requires mode 'constant'",
               [&] { Pad::call(x, {1, 0, 1, 0}, PadMode::kReplicate); });
}

TEST(Interpolate, NearestRepeats) {
  const Tensor x = tensor<double>({1, 2, 3}, {1, 1, 3});
  EXPECT_EQ(values(Interpolate::call(x, {}, Numbers{2})), (List{1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(values(Interpolate::call(x, Dims{2})), (List{1, 2}));
  EXPECT_EQ(values(Interpolate::call(x, Dims{2}, {}, InterpolateMode::kNearestExact)),
            (List{1, 3}));
}

// Numbers by PyTorch's definition: source positions (i + 0.5) * scale - 0.5, or i * scale.
TEST(Interpolate, LinearWeighsNeighbors) {
  const Tensor x = tensor<double>({1, 3}, {1, 1, 2});
  expect_near(Interpolate::call(x, Dims{4}, {}, InterpolateMode::kLinear), {1, 1.5, 2.5, 3});
  expect_near(Interpolate::call(x, Dims{3}, {}, InterpolateMode::kLinear, true), {1, 2, 3});
  expect_near(Interpolate::call(x, Dims{1}, {}, InterpolateMode::kLinear, true), {1});
}

// A scale factor is used as given, unless it is recomputed from the sizes.
TEST(Interpolate, ScaleFactorMayBeRecomputed) {
  const Tensor x = tensor<double>({0, 1, 2}, {1, 1, 3});
  expect_near(Interpolate::call(x, {}, Numbers{1.5}, InterpolateMode::kLinear),
              {0, 0.5, 7.0 / 6, 11.0 / 6});
  expect_near(Interpolate::call(x, {}, Numbers{1.5}, InterpolateMode::kLinear, {}, true),
              {0, 0.625, 1.375, 2});
}

TEST(Interpolate, AreaTakesMeans) {
  const Tensor x = tensor<double>({0, 1, 2, 3, 4}, {1, 1, 5});
  expect_near(Interpolate::call(x, Dims{3}, {}, InterpolateMode::kArea), {0.5, 2, 3.5});
}

TEST(Interpolate, CubicKeepsLinesAndOvershootsSteps) {
  const Tensor line = tensor<double>({0, 1, 2, 3, 4, 5, 6, 7}, {1, 1, 1, 8});
  const List wide =
      values(Interpolate::call(line, Dims{1, 15}, {}, InterpolateMode::kBicubic, true));
  EXPECT_NEAR(wide[6], 3, 1e-12);
  EXPECT_NEAR(wide[7], 3.5, 1e-12);
  const Tensor step = tensor<double>({0, 0, 1, 1}, {1, 1, 1, 4});
  const List sharp =
      values(Interpolate::call(step, Dims{1, 7}, {}, InterpolateMode::kBicubic, true));
  EXPECT_NEAR(sharp[1], -0.09375, 1e-12);
}

TEST(Interpolate, TakesTheMeansOfBoxesOfAVolume) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6, 7, 9}, {1, 1, 2, 2, 2});
  EXPECT_EQ(values(Interpolate::call(x, Dims{2, 1, 1}, {}, InterpolateMode::kArea)),
            (List{2.5, 6.75}));
  EXPECT_EQ(values(Interpolate::call(x, Dims{1, 2, 2}, {}, InterpolateMode::kArea)),
            (List{3, 4, 5, 6.5}));
}

TEST(Pad, FillsBooleansWithTruth) {
  EXPECT_EQ(values(Pad::call(tensor<bool>({false}), {1, 0}, PadMode::kConstant, 0.5)),
            (List{1, 0}));
}

TEST(Interpolate, MistakesAreNamed) {
  const Tensor x = tensor({1, 2}, {1, 1, 2});
  expect_error(ErrorCode::kInvalidArgument, "size or scaleFactor is required",
               [&] { Interpolate::call(x); });
  expect_error(ErrorCode::kInvalidArgument, "size and scaleFactor cannot be combined",
               [&] { Interpolate::call(x, Dims{1}, Numbers{1}); });
  expect_error(ErrorCode::kInvalidArgument,
               "mode 'bilinear' does not support an input of 3 dimensions",
               [&] { Interpolate::call(x, Dims{3}, {}, InterpolateMode::kBilinear); });
  expect_error(ErrorCode::kInvalidArgument, "alignCorners requires",
               [&] { Interpolate::call(x, Dims{3}, {}, InterpolateMode::kNearest, true); });
}

}  // namespace
}  // namespace eg
