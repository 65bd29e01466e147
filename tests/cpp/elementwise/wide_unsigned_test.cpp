// uint16, uint32 and uint64: conversions, promotion, and what is computed in signed integers.

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "dispatch/elementwise.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/slice.h"
#include "support/errors.h"
#include "support/op_call.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::OpCall;

// Tensors on the CPU, because no other device stores these dtypes.
template <class T>
Tensor stored(DType dtype, const std::vector<T>& values) {
  const Tensor t = Tensor::empty({static_cast<std::int64_t>(values.size())}, dtype);
  std::copy(values.begin(), values.end(), static_cast<T*>(t.data()));
  return t;
}

template <class T>
std::vector<T> elements(const Tensor& t) {
  const Tensor packed = contiguous_copy(t);
  const auto* first = static_cast<const T*>(packed.data());
  return std::vector<T>(first, first + packed.numel());
}

template <class T>
std::vector<T> converted(const Tensor& t, DType dtype) {
  return elements<T>(ToDType::call(t, dtype));
}

constexpr std::uint64_t kHalf = std::uint64_t{1} << 63U;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(WideUnsigned, ConvertExactlyInTheirWholeRange) {
  const Tensor x = stored<std::uint64_t>(DType::kUInt64, {0, 1, kHalf, kMost});
  EXPECT_EQ(converted<double>(x, DType::kFloat64), (std::vector<double>{0, 1, 0x1p63, 0x1p64}));
  EXPECT_EQ(converted<float>(x, DType::kFloat32), (std::vector<float>{0, 1, 0x1p63F, 0x1p64F}));
  EXPECT_EQ(converted<std::int64_t>(x, DType::kInt64),
            (std::vector<std::int64_t>{0, 1, std::numeric_limits<std::int64_t>::min(), -1}));
  EXPECT_EQ(converted<std::uint8_t>(x, DType::kBool), (std::vector<std::uint8_t>{0, 1, 1, 1}));
  const Tensor y = stored<std::uint32_t>(DType::kUInt32, {7, 0xffffffffU});
  EXPECT_EQ(converted<double>(y, DType::kFloat64), (std::vector<double>{7, 4294967295.0}));
  EXPECT_EQ(converted<std::int64_t>(y, DType::kInt64), (std::vector<std::int64_t>{7, 4294967295}));
  EXPECT_EQ(converted<std::uint64_t>(y, DType::kUInt64),
            (std::vector<std::uint64_t>{7, 0xffffffffU}));
  const Tensor z = stored<std::uint16_t>(DType::kUInt16, {7, 0xffff});
  EXPECT_EQ(converted<float>(z, DType::kFloat32), (std::vector<float>{7, 65535}));
}

TEST(WideUnsigned, AreMadeFromFloatsAsX86Does) {
  const Tensor x = Tensor::empty({4}, DType::kFloat64);
  const std::vector<double> given{-1, 1.9, 0x1p63, 0x1.8p63};
  std::copy(given.begin(), given.end(), x.data_as<double>());
  EXPECT_EQ(converted<std::uint64_t>(x, DType::kUInt64),
            (std::vector<std::uint64_t>{kMost, 1, kHalf, kHalf + (kHalf >> 1U)}));
  EXPECT_EQ(converted<std::uint32_t>(Narrow::call(x, 0, 0, 2), DType::kUInt32),
            (std::vector<std::uint32_t>{0xffffffffU, 1}));
  EXPECT_EQ(converted<std::uint16_t>(Narrow::call(x, 0, 0, 2), DType::kUInt16),
            (std::vector<std::uint16_t>{0xffff, 1}));
}

TEST(WideUnsigned, LongStridedRowsConvertTileByTile) {
  std::vector<std::uint32_t> given;
  for (std::uint32_t i = 0; i < 3000; ++i) given.push_back(i * 2654435761U);
  const Tensor every_third =
      Slice::call(stored<std::uint32_t>(DType::kUInt32, given), 0, 0, 3000, 3);
  const std::vector<std::int64_t> found = converted<std::int64_t>(every_third, DType::kInt64);
  ASSERT_EQ(found.size(), 1000U);
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], given[3 * i]);
}

TEST(WideUnsigned, PromoteWithFloatsOnly) {
  for (const DType dtype : {DType::kUInt16, DType::kUInt32, DType::kUInt64}) {
    EXPECT_EQ(promote_types(dtype, DType::kFloat16), DType::kFloat16);
    EXPECT_EQ(promote_types(DType::kComplex64, dtype), DType::kComplex64);
    EXPECT_EQ(promote_types(dtype, dtype), dtype);
    for (const DType other : {DType::kBool, DType::kUInt8, DType::kInt16, DType::kInt64}) {
      expect_error(ErrorCode::kDtypeMismatch, "no common dtype",
                   [&] { promote_types(dtype, other); });
    }
  }
}

TEST(WideUnsigned, ElementwiseOpsWrapAround) {
  const Tensor x = stored<std::uint32_t>(DType::kUInt32, {3, 0xffffffffU});
  EXPECT_EQ(elements<std::uint32_t>(call<op::Add>(x, 1)), (std::vector<std::uint32_t>{4, 0}));
  EXPECT_EQ(elements<bool>(call<op::Lt>(x, 5)), (std::vector<bool>{true, false}));
  EXPECT_EQ(
      elements<std::uint32_t>(call<op::Maximum>(x, stored<std::uint32_t>(DType::kUInt32, {4, 4}))),
      (std::vector<std::uint32_t>{4, 0xffffffffU}));
  const Tensor y = stored<std::uint64_t>(DType::kUInt64, {3, kMost});
  EXPECT_EQ(elements<std::uint64_t>(call<op::Mul>(y, y)), (std::vector<std::uint64_t>{9, 1}));
  EXPECT_EQ(elements<bool>(call<op::Eq>(y, y)), (std::vector<bool>{true, true}));
  const std::vector<double> roots = elements<double>(call<op::Sqrt>(
      ToDType::call(stored<std::uint64_t>(DType::kUInt64, {4, kHalf}), DType::kFloat64)));
  EXPECT_EQ(roots, (std::vector<double>{2, 0x1.6a09e667f3bcdp31}));
}

TEST(WideUnsigned, WhatSignedIntegersWouldSpoilIsRefused) {
  const Tensor x = stored<std::uint64_t>(DType::kUInt64, {3, kMost});
  expect_error(ErrorCode::kDtypeMismatch, "not implemented for uint64",
               [&] { call<op::Lt>(x, x); });
  expect_error(ErrorCode::kDtypeMismatch, "not implemented for uint64",
               [&] { call<op::Maximum>(x, x); });
  for (const DType dtype : {DType::kUInt32, DType::kUInt64}) {
    const Tensor y = full({2}, 1, dtype);
    expect_error(ErrorCode::kDtypeMismatch, "to('int64')", [&] { OpCall().with(y).run("cumsum"); });
  }
}

TEST(WideUnsigned, NumbersMustFit) {
  EXPECT_EQ(elements<std::uint16_t>(full({1}, 65535, DType::kUInt16)),
            std::vector<std::uint16_t>{0xffff});
  EXPECT_EQ(elements<std::uint64_t>(full({1}, 0x1.8p63, DType::kUInt64)),
            std::vector<std::uint64_t>{kHalf + (kHalf >> 1U)});
  for (const DType dtype : {DType::kUInt16, DType::kUInt32, DType::kUInt64})
    expect_error(ErrorCode::kInvalidArgument, "does not fit", [&] { full({1}, 0x1p65, dtype); });
}

}  // namespace
}  // namespace eg
