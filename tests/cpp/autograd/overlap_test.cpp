#include "dispatch/overlap.h"

#include <gtest/gtest.h>

#include "dispatch/elementwise.h"
#include "dispatch/factories.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/random/random.h"
#include "ops/reduce/reduction.h"
#include "support/errors.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::tensor;
using testing::values;

using Numbers = std::vector<double>;

constexpr const char* kShared = "share one memory location";
constexpr const char* kPartial = "an input overlaps the memory";

// rule: overlap-not-written
TEST(Overlap, ExpandedTensorsAreNotWrittenTo) {
  const Tensor memory = tensor({1, 2, 3});
  const Tensor x = memory.alias({2, 3}, {0, 1}, 0);
  expect_error(ErrorCode::kInvalidArgument, kShared, [&] { call_in_place<op::Add>(x, 1); });
  expect_error(ErrorCode::kInvalidArgument, kShared, [&] { CopyInPlace::call(x, 1); });
  expect_error(ErrorCode::kInvalidArgument, kShared, [&] { NormalInPlace::call(x); });
  EXPECT_EQ(values(memory), (Numbers{1, 2, 3}));
  EXPECT_EQ(memory.version(), 0U);
}

// rule: overlap-not-written
TEST(Overlap, ExpandedTensorsAreFilled) {
  const Tensor memory = tensor({1, 2, 3});
  const Tensor x = memory.alias({2, 3}, {0, 1}, 0);
  FillInPlace::call(x, 4);
  EXPECT_EQ(values(memory), (Numbers{4, 4, 4}));
  FillInPlace::call(x, memory.alias({}, {}, 1));
  ZeroInPlace::call(x);
  EXPECT_EQ(values(memory), (Numbers{0, 0, 0}));
}

TEST(Overlap, RepeatedElementsThatAreOneOrNoneAreWrittenTo) {
  const Tensor memory = tensor({1, 2, 3});
  call_in_place<op::Add>(memory.alias({1, 3}, {0, 1}, 0), 1);
  EXPECT_EQ(values(memory), (Numbers{2, 3, 4}));
  call_in_place<op::Add>(memory.alias({2, 0}, {0, 1}, 0), 1);
  // Windows overlap in a way that PyTorch does not detect either.
  EXPECT_NO_THROW(check_no_internal_overlap(memory.alias({2, 2}, {1, 1}, 0)));
}

// rule: partial-overlap-refused
TEST(Overlap, OperandsThatLieAcrossTheTargetAreRefused) {
  const Tensor memory = tensor({0, 1, 2, 3}, {2, 2});
  const Tensor transposed = memory.alias({2, 2}, {1, 2}, 0);
  const Tensor element = memory.alias({}, {}, 3);
  for (const Tensor& operand : {transposed, element}) {
    expect_error(ErrorCode::kInvalidArgument, kPartial,
                 [&] { call_in_place<op::Mul>(memory, operand); });
    expect_error(ErrorCode::kInvalidArgument, kPartial,
                 [&] { CopyInPlace::call(memory, operand); });
  }
  EXPECT_EQ(values(memory), (Numbers{0, 1, 2, 3}));
  call_in_place<op::Mul>(memory, memory);
  call_in_place<op::Mul>(memory, memory.alias());
  EXPECT_EQ(values(memory), (Numbers{0, 1, 16, 81}));
}

TEST(Integers, AreNotDividedByZeroInTheirOwnDtype) {
  const Tensor x = tensor<std::uint8_t>({7, 5});
  const auto divide = [&](const Operand& by) { return call<op::FloorDivide>(x, by); };
  expect_error(ErrorCode::kInvalidArgument, "integers cannot be divided by zero",
               [&] { divide(0); });
  expect_error(ErrorCode::kInvalidArgument, "256 does not fit uint8", [&] { divide(256); });
  expect_error(ErrorCode::kInvalidArgument, "integers cannot be divided by zero",
               [&] { divide(tensor<std::uint8_t>({1, 0})); });
  // Both have dtype int32, in which 256 is not zero.
  EXPECT_EQ(values(divide(tensor<std::int32_t>({1, 256}))), (Numbers{7, 0}));
  EXPECT_EQ(values(divide(2)), (Numbers{3, 2}));
  EXPECT_EQ(divide(tensor({0.0, 2.0})).dtype(), DType::kFloat32);
  EXPECT_EQ(values(call<op::FloorDivide>(tensor<std::int32_t>({}), 0)), Numbers{});
}

TEST(Scalars, FitADtypeOrAreRefused) {
  EXPECT_TRUE(Scalar(2147483647.0).fits<std::int32_t>());
  EXPECT_FALSE(Scalar(2147483648.0).fits<std::int32_t>());
  EXPECT_FALSE(Scalar(0x1p63).fits<std::int64_t>());
  EXPECT_TRUE(Scalar(-0x1p63).fits<std::int64_t>());
  EXPECT_TRUE(Scalar(-255).fits<std::uint8_t>());
  EXPECT_FALSE(Scalar(-256).fits<std::uint8_t>());
  EXPECT_FALSE(Scalar(-0.5).fits<std::uint8_t>());
  EXPECT_FALSE(Scalar(std::numeric_limits<double>::quiet_NaN()).fits<std::int64_t>());
  EXPECT_TRUE(Scalar(std::numeric_limits<double>::infinity()).fits<float>());
  EXPECT_FALSE(Scalar(1e39).fits<float>());
  EXPECT_FALSE(Scalar(1e39).fits<std::complex<float>>());
  EXPECT_TRUE(Scalar(1e39).fits<bool>());
  expect_error(ErrorCode::kInvalidArgument, "the value 300 does not fit uint8",
               [&] { testing::full({2}, 300, DType::kUInt8); });
}

}  // namespace
}  // namespace eg
