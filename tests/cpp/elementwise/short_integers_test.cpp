// markers: variant

// int8 and int16: conversions, promotion, and their use in ops.

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "dispatch/elementwise.h"
#include "dispatch/promotion.h"
#include "formulas/all.h"
#include "ops/complex/complex.h"
#include "ops/create/copy.h"
#include "ops/create/factory.h"
#include "ops/shape/slice.h"
#include "support/errors.h"
#include "support/op_call.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::OpCall;
using testing::tensor;
using testing::values;

Tensor short_tensor(const std::vector<std::int32_t>& numbers, DType dtype) {
  return ToDType::call(tensor(numbers), dtype);
}

std::vector<double> wide(const Tensor& t) { return values(ToDType::call(t, DType::kInt32)); }

// More numbers than a tile has: packed, strided and of one element.
template <class T>
void expect_last_bits(DType dtype) {
  std::vector<std::int32_t> given;
  for (std::int32_t i = -70000; i < 70000; i += 37) given.push_back(i);
  const Tensor x = tensor(given);
  const auto expect = [&](const Tensor& found, std::size_t step) {
    const std::vector<double> numbers = values(found);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      ASSERT_EQ(numbers[i], static_cast<T>(given[step * i])) << given[step * i];
  };
  const Tensor converted = ToDType::call(x, dtype);
  EXPECT_EQ(converted.storage()->bytes(), sizeof(T) * given.size());
  for (const DType other : {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64}) {
    expect(ToDType::call(converted, other), 1);
    expect(ToDType::call(ToDType::call(ToDType::call(x, other), dtype), DType::kInt32), 1);
  }
  const Tensor every_third = Slice::call(x, 0, 0, x.numel(), 3);
  expect(ToDType::call(ToDType::call(every_third, dtype), DType::kInt32), 3);
  expect(ToDType::call(Slice::call(converted, 0, 0, x.numel(), 3), DType::kInt64), 3);
  expect(ToDType::call(Clone::call(Slice::call(converted, 0, 0, x.numel(), 3)), DType::kInt32), 3);
}

TEST(ShortIntegers, KeepTheLastBits) {
  expect_last_bits<std::int8_t>(DType::kInt8);
  expect_last_bits<std::int16_t>(DType::kInt16);
}

TEST(ShortIntegers, ComeFromAllDtypesAndGoThere) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Tensor floats =
      tensor<float>({1.7F, -1.7F, 300, kInf, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_EQ(wide(ToDType::call(floats, DType::kInt8)), (std::vector<double>{1, -1, 44, 0, 0}));
  EXPECT_EQ(wide(ToDType::call(floats, DType::kInt16)), (std::vector<double>{1, -1, 300, 0, 0}));
  const Tensor x = short_tensor({-128, 0, 100}, DType::kInt8);
  EXPECT_EQ(values(ToDType::call(x, DType::kUInt8)), (std::vector<double>{128, 0, 100}));
  EXPECT_EQ(values(ToDType::call(x, DType::kBool)), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(wide(ToDType::call(x, DType::kInt16)), (std::vector<double>{-128, 0, 100}));
  for (const DType other : {DType::kFloat16, DType::kBFloat16}) {
    const Tensor half = ToDType::call(x, other);
    EXPECT_EQ(values(ToDType::call(half, DType::kFloat32)), (std::vector<double>{-128, 0, 100}));
    EXPECT_EQ(wide(ToDType::call(half, DType::kInt8)), (std::vector<double>{-128, 0, 100}));
  }
  const Tensor complex = ToDType::call(x, DType::kComplex64);
  EXPECT_EQ(values(Real::call(complex)), (std::vector<double>{-128, 0, 100}));
  EXPECT_EQ(values(Imag::call(complex)), (std::vector<double>{0, 0, 0}));
}

TEST(ShortIntegers, PromotionIsPyTorchs) {
  const auto both_ways = [](DType a, DType b, DType expected) {
    EXPECT_EQ(promote_types(a, b), expected) << dtype_name(a) << ' ' << dtype_name(b);
    EXPECT_EQ(promote_types(b, a), expected) << dtype_name(b) << ' ' << dtype_name(a);
  };
  for (const DType one : {DType::kInt8, DType::kInt16}) {
    both_ways(one, one, one);
    both_ways(one, DType::kBool, one);
    both_ways(one, DType::kUInt8, DType::kInt16);
    for (const DType other :
         {DType::kInt32, DType::kInt64, DType::kFloat16, DType::kBFloat16, DType::kFloat32,
          DType::kFloat64, DType::kComplex64, DType::kComplex128})
      both_ways(one, other, other);
  }
  both_ways(DType::kInt8, DType::kInt16, DType::kInt16);
}

TEST(ShortIntegers, ElementwiseOpsWrapAround) {
  const Tensor x = short_tensor({-128, -1, 0, 100, 127}, DType::kInt8);
  const auto expect = [](const Tensor& found, const std::vector<double>& expected) {
    EXPECT_EQ(found.dtype(), DType::kInt8);
    EXPECT_EQ(wide(found), expected);
  };
  expect(call<op::Add>(x, 1), {-127, 0, 1, 101, -128});
  expect(call<op::Mul>(x, x), {0, 1, 0, 16, 1});
  expect(call<op::Abs>(x), {-128, 1, 0, 100, 127});
  expect(call<op::FloorDivide>(x, -1), {-128, 1, 0, -100, -127});
  expect(call<op::Add>(x, full({}, 300, DType::kInt64)), {-84, 43, 44, -112, -85});
  EXPECT_EQ(call<op::Add>(x, 0.5).dtype(), DType::kFloat32);
  EXPECT_EQ(call<op::Lt>(x, 0).dtype(), DType::kBool);
  // Operands are converted before they are compared: 256 is 0.
  EXPECT_EQ(values(call<op::Gt>(x, full({}, 256, DType::kInt64))),
            (std::vector<double>{0, 0, 0, 1, 1}));
  const Tensor target = full({2}, 100, DType::kInt8);
  call_in_place<op::Add>(target, full({2}, 100, DType::kInt64));
  expect(target, {-56, -56});
}

TEST(ShortIntegers, NumbersOutOfRangeAreRefused) {
  expect_error(ErrorCode::kInvalidArgument, "the value 128 does not fit int8",
               [] { full({2}, 128, DType::kInt8); });
  expect_error(ErrorCode::kInvalidArgument, "the value -32769 does not fit int16",
               [] { full({2}, -32769, DType::kInt16); });
  const Tensor x = full({2}, 1, DType::kInt8);
  expect_error(ErrorCode::kInvalidArgument, "300 does not fit int8", [&] { call<op::Lt>(x, 300); });
  expect_error(ErrorCode::kInvalidArgument, "divided by zero",
               [&] { call<op::Remainder>(x, full({}, 256, DType::kInt64)); });
}

TEST(ShortIntegers, OtherOpsComputeInInt32) {
  const Tensor x = short_tensor({100, 100, -128, 3}, DType::kInt8);
  const Tensor a = full({2, 2}, 100, DType::kInt8);
  const Tensor product = OpCall().with(a).with(a).run("mm")[0];
  EXPECT_EQ(product.dtype(), DType::kInt8);
  EXPECT_EQ(wide(product), (std::vector<double>(4, 32)));
  const auto sum = [&](double dtype) {
    return OpCall().with(x).with(-1).with(0).with(dtype).run("sum")[0];
  };
  EXPECT_EQ(sum(-1).dtype(), DType::kInt64);
  EXPECT_EQ(sum(static_cast<double>(DType::kInt8)).dtype(), DType::kInt8);
  EXPECT_EQ(sum(static_cast<double>(DType::kInt32)).dtype(), DType::kInt32);
  const Tensor bytes = short_tensor({200, 200}, DType::kUInt8);
  const Tensor joined = OpCall().with(2).with(x).with(bytes).with(0).run("cat")[0];
  EXPECT_EQ(joined.dtype(), DType::kInt16);
  EXPECT_EQ(wide(joined), (std::vector<double>{100, 100, -128, 3, 200, 200}));
  OpCall().with(x).with(0).with(-1).run("cumsum", true);
  EXPECT_EQ(wide(x), (std::vector<double>{100, -56, 72, 75}));
}

TEST(ShortIntegers, PositionsAndSourcesAreNotConverted) {
  const Tensor x = short_tensor({1, 2, 3}, DType::kInt8);
  const Tensor index = short_tensor({1}, DType::kInt64);
  expect_error(ErrorCode::kDtypeMismatch, "index must be int64 or int32, got int8",
               [&] { OpCall().with(x).with(0).with(x).with(false).run("gather"); });
  expect_error(ErrorCode::kDtypeMismatch, "of the same dtype, got int8 and int32", [&] {
    OpCall().with(x).with(0).with(index).with(short_tensor({1}, DType::kInt32)).run("index_copy");
  });
  EXPECT_EQ(OpCall().with(x).with(0).with(index).with(false).run("gather")[0].dtype(),
            DType::kInt8);
}

}  // namespace
}  // namespace eg
