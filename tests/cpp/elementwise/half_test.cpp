// markers: variant

// float16 and bfloat16: their bits, promotion, and their use in the engine and in ops.

#include "base/half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "dispatch/elementwise.h"
#include "dispatch/precision.h"
#include "dispatch/promotion.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/create/factory.h"
#include "ops/shape/slice.h"
#include "ops/shape/stride.h"
#include "support/errors.h"
#include "support/op_call.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::leaf;
using testing::OpCall;
using testing::tensor;
using testing::values;

constexpr float kInfiniteFloat = std::numeric_limits<float>::infinity();

struct Bits {
  float value;
  std::uint16_t float16;
  std::uint16_t bfloat16;
};

TEST(Half, BitsAreThoseOfIeee754) {
  const std::vector<Bits> known{
      {0.0F, 0x0000, 0x0000},           {-0.0F, 0x8000, 0x8000},
      {1.0F, 0x3c00, 0x3f80},           {-2.5F, 0xc100, 0xc020},
      {65504.0F, 0x7bff, 0x4780},       {0x1p-14F, 0x0400, 0x3880},  // the smallest normal float16
      {0x1p-24F, 0x0001, 0x3380},                                    // the smallest one
      {0x1.8p-24F, 0x0002, 0x33c0},                                  // a tie: to even
      {0x1p-25F, 0x0000, 0x3300},                                    // a tie: to zero
      {0x1.004p0F, 0x3c01, 0x3f80},     {0x1.002p0F, 0x3c00, 0x3f80},  // ties of the tenth digit
      {0x1.006p0F, 0x3c02, 0x3f80},     {0x1.01p0F, 0x3c04, 0x3f80},   // ties of the seventh
      {0x1.03p0F, 0x3c0c, 0x3f82},      {65519.0F, 0x7bff, 0x4780},
      {65520.0F, 0x7c00, 0x4780},       {0x1.ffp127F, 0x7c00, 0x7f80},
      {kInfiniteFloat, 0x7c00, 0x7f80}, {-kInfiniteFloat, 0xfc00, 0xff80},
      {0x1p-149F, 0x0000, 0x0000},      {0x1p-133F, 0x0000, 0x0001},
  };
  for (const Bits& one : known) {
    EXPECT_EQ(float16_bits(one.value), one.float16) << one.value;
    EXPECT_EQ(bfloat16_bits(one.value), one.bfloat16) << one.value;
  }
  for (const float sign : {1.0F, -1.0F}) {
    const float nan = std::copysign(std::numeric_limits<float>::quiet_NaN(), sign);
    EXPECT_TRUE(std::isnan(from_float16_bits(float16_bits(nan))));
    EXPECT_TRUE(std::isnan(from_bfloat16_bits(bfloat16_bits(nan))));
  }
}

TEST(Half, EveryNumberSurvivesFloat32) {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float small = from_float16_bits(bits);
    const float wide = from_bfloat16_bits(bits);
    const bool is_nan16 = (bits & 0x7fffU) > 0x7c00U;
    ASSERT_EQ(std::isnan(small), is_nan16) << i;
    if (!is_nan16) {
      ASSERT_EQ(float16_bits(small), bits) << i;
      const int exponent = bits >> 10 & 0x1f;
      const int fraction = bits & 0x3ff;
      const double size = exponent == 31  ? kInfiniteFloat
                          : exponent == 0 ? std::ldexp(fraction, -24)
                                          : std::ldexp(1024 + fraction, exponent - 25);
      ASSERT_EQ(std::abs(small), size) << i;
    }
    if (!std::isnan(wide)) {
      ASSERT_EQ(bfloat16_bits(wide), bits) << i;
    }
  }
}

// Every half-precision number, in tensors larger than a tile: packed, strided and of one element.
TEST(Half, CopiesConvertAsOneNumberDoes) {
  std::vector<float> given;
  for (std::uint32_t i = 0; i < 0x10000; i += 7) given.push_back(std::bit_cast<float>(i << 16 | i));
  const Tensor x = tensor(given);
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const auto rounded = [&](float value) -> double {
      return dtype == DType::kFloat16 ? from_float16_bits(float16_bits(value))
                                      : from_bfloat16_bits(bfloat16_bits(value));
    };
    const auto expect_rounded = [&](const Tensor& found, std::size_t step) {
      const std::vector<double> back = values(found);
      for (std::size_t i = 0; i < back.size(); ++i) {
        const double expected = rounded(given[step * i]);
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(back[i])) << given[step * i];
        } else {
          ASSERT_EQ(back[i], expected) << given[step * i];
        }
      }
    };
    const Tensor half = ToDType::call(x, dtype);
    EXPECT_EQ(half.dtype(), dtype);
    EXPECT_EQ(half.storage()->bytes(), 2 * given.size());
    expect_rounded(ToDType::call(half, DType::kFloat32), 1);
    expect_rounded(ToDType::call(half, DType::kFloat64), 1);
    expect_rounded(
        ToDType::call(ToDType::call(ToDType::call(x, DType::kFloat64), dtype), DType::kFloat32), 1);
    const Tensor every_third = Slice::call(x, 0, 0, x.numel(), 3);
    expect_rounded(ToDType::call(ToDType::call(every_third, dtype), DType::kFloat32), 3);
    expect_rounded(ToDType::call(Slice::call(half, 0, 0, x.numel(), 3), DType::kFloat32), 3);
    expect_rounded(
        ToDType::call(Clone::call(Slice::call(half, 0, 0, x.numel(), 3)), DType::kFloat32), 3);
  }
}

TEST(Half, OtherDtypesComeAndGoThroughFloat32) {
  const Tensor x = ToDType::call(tensor<float>({-1.5F, 0, 2.25F, 300}), DType::kFloat16);
  EXPECT_EQ(values(ToDType::call(x, DType::kInt64)), (std::vector<double>{-1, 0, 2, 300}));
  EXPECT_EQ(values(ToDType::call(x, DType::kInt32)), (std::vector<double>{-1, 0, 2, 300}));
  EXPECT_EQ(values(ToDType::call(x, DType::kUInt8)), (std::vector<double>{255, 0, 2, 44}));
  EXPECT_EQ(values(ToDType::call(x, DType::kBool)), (std::vector<double>{1, 0, 1, 1}));
  EXPECT_EQ(values(ToDType::call(ToDType::call(x, DType::kBFloat16), DType::kFloat32)),
            (std::vector<double>{-1.5, 0, 2.25, 300}));
  const Tensor complex = ToDType::call(x, DType::kComplex64);
  EXPECT_EQ(values(ToDType::call(Real::call(complex), DType::kFloat32)),
            (std::vector<double>{-1.5, 0, 2.25, 300}));
  const Tensor large = tensor<std::int64_t>({2049, 70000, -3});
  EXPECT_EQ(values(ToDType::call(ToDType::call(large, DType::kFloat16), DType::kFloat64)),
            (std::vector<double>{2048, kInfiniteFloat, -3}));
}

TEST(Half, PromotionIsPyTorchs) {
  const auto both_ways = [](DType a, DType b, DType expected) {
    EXPECT_EQ(promote_types(a, b), expected) << dtype_name(a) << ' ' << dtype_name(b);
    EXPECT_EQ(promote_types(b, a), expected) << dtype_name(b) << ' ' << dtype_name(a);
  };
  for (const DType half : {DType::kFloat16, DType::kBFloat16}) {
    for (const DType small : {half, DType::kInt32, DType::kInt64, DType::kUInt8, DType::kBool})
      both_ways(half, small, half);
    for (const DType large :
         {DType::kFloat32, DType::kFloat64, DType::kComplex64, DType::kComplex128})
      both_ways(half, large, large);
  }
  both_ways(DType::kFloat16, DType::kBFloat16, DType::kFloat32);
}

TEST(Half, NumbersAndZeroDimTensorsDoNotWiden) {
  const Tensor x = full({2}, 1.5, DType::kBFloat16);
  EXPECT_EQ(call<op::Mul>(x, 0.1).dtype(), DType::kBFloat16);
  EXPECT_EQ(call<op::Mul>(x, full({}, 2, DType::kFloat64)).dtype(), DType::kBFloat16);
  EXPECT_EQ(call<op::Mul>(x, full({2}, 2, DType::kInt64)).dtype(), DType::kBFloat16);
  EXPECT_EQ(call<op::Mul>(x, full({2}, 2, DType::kFloat16)).dtype(), DType::kFloat32);
  EXPECT_EQ(call<op::Lt>(x, 2).dtype(), DType::kBool);
}

TEST(Half, ElementwiseOpsRoundOnce) {
  // In float16, (1 + eps) * (1 + eps) - 1 would lose what float32 keeps until the end.
  const Tensor x = ToDType::call(tensor<float>({1.0009765625F}), DType::kFloat16);
  const Tensor square = call<op::Mul>(x, x);
  EXPECT_EQ(square.dtype(), DType::kFloat16);
  EXPECT_EQ(values(ToDType::call(square, DType::kFloat32))[0],
            from_float16_bits(float16_bits(1.0009765625F * 1.0009765625F)));
  const Tensor target = full({3}, 1, DType::kFloat16);
  call_in_place<op::Add>(target, full({3}, 0.25, DType::kFloat32));
  EXPECT_EQ(target.dtype(), DType::kFloat16);
  EXPECT_EQ(values(ToDType::call(target, DType::kFloat32)), (std::vector<double>(3, 1.25)));
}

TEST(Half, AValueThatDoesNotFitIsRefused) {
  expect_error(ErrorCode::kInvalidArgument, "65505 does not fit float16",
               [] { full({2}, 65505, DType::kFloat16); });
  expect_error(ErrorCode::kInvalidArgument, "does not fit bfloat16",
               [] { full({2}, 3.4e38, DType::kBFloat16); });
  EXPECT_EQ(values(ToDType::call(full({1}, kInfiniteFloat, DType::kFloat16), DType::kFloat32))[0],
            kInfiniteFloat);
}

TEST(Half, GradientsHaveTheDtypeOfTheirTensors) {
  const Tensor x = ToDType::call(tensor<float>({1, 2, 3}), DType::kBFloat16);
  set_requires_grad(x, true);
  const Tensor w = leaf<float>({0.5F, 2, 4});
  // Broadcasting, expanding and overlapping views, whose gradients are sums.
  const Tensor wide = call<op::Mul>(Expand::call(x, {2, 3}), w);
  EXPECT_EQ(wide.dtype(), DType::kFloat32);
  const Tensor overlapping = AsStrided::call(x, {2, 2}, {1, 1}, 0);
  EXPECT_EQ(overlapping.dtype(), DType::kBFloat16);
  backward({Sum::call(wide)});
  EXPECT_EQ(grad(x).dtype(), DType::kBFloat16);
  EXPECT_EQ(grad(w).dtype(), DType::kFloat32);
  EXPECT_EQ(values(ToDType::call(grad(x), DType::kFloat32)), (std::vector<double>{1, 4, 8}));
  EXPECT_EQ(values(grad(w)), (std::vector<double>{2, 4, 6}));
  backward({Sum::call(ToDType::call(overlapping, DType::kFloat32))});
  EXPECT_EQ(values(ToDType::call(grad(x), DType::kFloat32)), (std::vector<double>{2, 6, 9}));
}

TEST(Half, OtherOpsGetFloat32AndGiveWhatOperandsPromoteTo) {
  const Tensor half = full({2, 2}, 0.1, DType::kFloat16);
  const Tensor single = full({2, 2}, 1, DType::kFloat32);
  EXPECT_EQ(OpCall().with(half).with(half).run("mm")[0].dtype(), DType::kFloat16);
  EXPECT_EQ(OpCall().with(half).with(single).run("mm")[0].dtype(), DType::kFloat32);
  EXPECT_EQ(OpCall().with(half).with(0).with(0).run("argmax")[0].dtype(), DType::kInt64);
  // sum(dim=None, keepdim=False, dtype=float32)
  EXPECT_EQ(OpCall().with(half).with(-1).with(0).with(0).run("sum")[0].dtype(), DType::kFloat32);
  EXPECT_EQ(OpCall().with(half).with(-1).with(0).with(-1).run("sum")[0].dtype(), DType::kFloat16);
}

TEST(Half, WhatAnOpChangesIsWrittenBack) {
  const Tensor x = full({4}, 1, DType::kFloat16);
  const std::uint32_t version = x.version();
  OpCall().with(x).with(0).with(-1).run("cumsum", true);
  EXPECT_EQ(values(ToDType::call(x, DType::kFloat32)), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(x.version(), version + 1);
  EXPECT_EQ(x.dtype(), DType::kFloat16);
}

class WithAutocast : public ::testing::Test {
 protected:
  void SetUp() override { autograd_state().autocast = DType::kBFloat16; }
  void TearDown() override { autograd_state().autocast = DType::kFloat32; }
};
using HalfAutocast = WithAutocast;

TEST_F(HalfAutocast, RoundsTheOperandsOfProducts) {
  const Tensor a = tensor<float>({1.00390625F, 2, 3, 4}, {2, 2});
  const Tensor product = OpCall().with(a).with(a).run("mm")[0];
  EXPECT_EQ(product.dtype(), DType::kBFloat16);
  // 1.00390625 is 1 in bfloat16.
  EXPECT_EQ(values(ToDType::call(product, DType::kFloat32)), (std::vector<double>{7, 10, 15, 22}));
  EXPECT_EQ(OpCall()
                .with(ToDType::call(a, DType::kFloat64))
                .with(ToDType::call(a, DType::kFloat64))
                .run("mm")[0]
                .dtype(),
            DType::kFloat64);
  EXPECT_EQ(OpCall().with(product).with(0).with(0).with(-1).run("prod")[0].dtype(),
            DType::kFloat32);
}

}  // namespace
}  // namespace eg
