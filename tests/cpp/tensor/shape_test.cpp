// Arithmetic on shapes and strides, without tensors.

#include "base/shape.h"

#include <limits>

#include <gtest/gtest.h>

#include "support/errors.h"

namespace eg {
namespace {

using testing::expect_error;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t k32 = std::int64_t{1} << 32;

TEST(CheckedInt, ComputesOrThrows) {
  EXPECT_EQ((CheckedInt(3) * 4 - 5 + 2).value(), 9);
  for (const auto& overflowing :
       {+[] { (void)(CheckedInt(kMost) + 1); }, +[] { (void)(CheckedInt(-kMost) - 2); },
        +[] { (void)(CheckedInt(k32) * k32); }, +[] { (void)(CheckedInt(-k32) * k32 * 2); }}) {
    expect_error(ErrorCode::kInvalidArgument, "64 bits", overflowing);
  }
}

TEST(CheckedInt, CountsWhatCanBeAddressed) {
  EXPECT_EQ(checked_count(17), 17U);
  expect_error(ErrorCode::kOutOfMemory, "entries do not fit into memory",
               [] { checked_count(kMost); });
}

TEST(CheckedInteger, TakesWhatJavaScriptCountsExactly) {
  EXPECT_EQ(checked_integer(-0x1p53), -(std::int64_t{1} << 53));
  for (const double value : {0.5, 0x1p54, -0x1p63, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    expect_error(ErrorCode::kInvalidArgument, "expected a whole number",
                 [&] { checked_integer(value); });
  }
}

TEST(CheckShape, CountsElementsWithoutWrapping) {
  check_shape(Shape{});
  check_shape(Shape{0, k32});
  check_shape(Shape{1, kMaxElements});
  check_shape(Shape(kMaxDims, 1));
  for (const Shape& shape : {Shape{k32, k32}, Shape{k32, k32, 0}, Shape{0, k32, k32}, Shape{kMost},
                             Shape{274177, 67280421310721}, Shape{3, kMaxElements}}) {
    expect_error(ErrorCode::kOutOfMemory, "more than 2^53 elements", [&] { check_shape(shape); });
  }
  expect_error(ErrorCode::kInvalidArgument, "must not be negative",
               [] { check_shape(Shape{2, -1}); });
  expect_error(ErrorCode::kInvalidArgument, "at most 64 dimensions, got 65",
               [] { check_shape(Shape(kMaxDims + 1, 1)); });
}

TEST(ViewFits, KnowsTheFirstAndTheLastElement) {
  EXPECT_TRUE(view_fits(Shape{2, 3}, Strides{3, 1}, 0, 6));
  EXPECT_FALSE(view_fits(Shape{2, 3}, Strides{3, 1}, 1, 6));
  EXPECT_FALSE(view_fits(Shape{2, 3}, Strides{3, 1}, -1, 6));
  EXPECT_TRUE(view_fits(Shape{3}, Strides{-1}, 2, 3));
  EXPECT_FALSE(view_fits(Shape{3}, Strides{-1}, 1, 3));
  EXPECT_TRUE(view_fits(Shape{}, Strides{}, 0, 1));
  EXPECT_FALSE(view_fits(Shape{}, Strides{}, 0, 0));
  EXPECT_TRUE(view_fits(Shape{k32}, Strides{0}, 0, 1));
  EXPECT_TRUE(view_fits(Shape{0}, Strides{1}, 0, 0));
  EXPECT_TRUE(view_fits(Shape{1}, Strides{kMost}, 0, 1));
  EXPECT_FALSE(view_fits(Shape{2}, Strides{kMost}, 0, 1));
  EXPECT_FALSE(view_fits(Shape{(std::int64_t{1} << 44) + 1}, Strides{1 << 20}, 0, 1 << 20));
  EXPECT_FALSE(view_fits(Shape{k32, k32}, Strides{k32, -k32}, 0, 1));
  EXPECT_FALSE(view_fits(Shape{0, k32}, Strides{1, kMost}, 0, 1));
  EXPECT_FALSE(view_fits(Shape{1}, Strides{1}, kMost, 1));
}

TEST(InferSize, DoesNotWrap) {
  EXPECT_EQ(infer_size(Shape{2, -1}, 6, "view"), (Shape{2, 3}));
  for (const Shape& shape : {Shape{k32, k32}, Shape{274177, 67280421310721}, Shape{k32, k32, -1}}) {
    for (const std::int64_t count : {0, 1}) {
      expect_error(ErrorCode::kShapeMismatch, "[view] cannot view ",
                   [&] { infer_size(shape, count, "view"); });
    }
  }
}

}  // namespace
}  // namespace eg
