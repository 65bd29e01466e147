// markers: variant

// float8_e4m3fn and float8_e5m2: their bits, conversions and promotion.

#include "base/float8.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "dispatch/elementwise.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/create/factory.h"
#include "ops/shape/slice.h"
#include "support/errors.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::tensor;
using testing::values;

constexpr float kInfiniteFloat8 = std::numeric_limits<float>::infinity();

struct Float8Bits {
  float value;
  std::uint8_t e4m3fn;
  std::uint8_t e5m2;
};

TEST(Float8, BitsArePyTorchs) {
  const std::vector<Float8Bits> known{{0.0F, 0x00, 0x00},
                                      {-0.0F, 0x80, 0x80},
                                      {1.0F, 0x38, 0x3c},
                                      {-2.0F, 0xc0, 0xc0},
                                      {448.0F, 0x7e, 0x5f},
                                      {464.0F, 0x7e, 0x5f},  // a tie: to even
                                      {464.1F, 0x7f, 0x5f},
                                      {57344.0F, 0x7f, 0x7b},
                                      {61440.0F, 0x7f, 0x7c},
                                      {0x1p-9F, 0x01, 0x18},
                                      {0x1p-10F, 0x00, 0x14},
                                      {0x1.1p-10F, 0x01, 0x14},
                                      {0x1p-16F, 0x00, 0x01},
                                      {0x1p-17F, 0x00, 0x00},
                                      {0x1.1p-17F, 0x00, 0x01},
                                      {17.0F, 0x58, 0x4c},
                                      {19.0F, 0x5a, 0x4d},
                                      {kInfiniteFloat8, 0x7f, 0x7c},
                                      {-kInfiniteFloat8, 0xff, 0xfc}};
  for (const Float8Bits& one : known) {
    EXPECT_EQ(float8_e4m3fn_bits(one.value), one.e4m3fn) << one.value;
    EXPECT_EQ(float8_e5m2_bits(one.value), one.e5m2) << one.value;
  }
  EXPECT_TRUE(std::isnan(from_float8_e5m2_bits(float8_e5m2_bits(std::nanf("")))));
}

TEST(Float8, EveryNumberSurvivesFloat32) {
  for (unsigned i = 0; i < 256; ++i) {
    const auto bits = static_cast<std::uint8_t>(i);
    const float small = from_float8_e4m3fn_bits(bits);
    const float wide = from_float8_e5m2_bits(bits);
    EXPECT_EQ(std::isnan(small), (bits & 0x7fU) == 0x7fU);
    EXPECT_EQ(std::isnan(wide), (bits & 0x7fU) > 0x7cU);
    if (!std::isnan(small)) {
      EXPECT_EQ(float8_e4m3fn_bits(small), bits);
    }
    if (!std::isnan(wide)) {
      EXPECT_EQ(float8_e5m2_bits(wide), bits);
    }
  }
}

TEST(Float8, CopiesConvertAsOneNumberDoes) {
  std::vector<float> given;
  for (int i = -1000; i < 1000; ++i) given.push_back(std::ldexp(static_cast<float>(i), i % 12 - 8));
  const Tensor x = tensor(given);
  for (const DType dtype : {DType::kFloat8E4m3fn, DType::kFloat8E5m2}) {
    const auto expect_rounded = [&](const Tensor& found, std::size_t step) {
      const std::vector<double> numbers = values(found);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const float value = given[step * i];
        const float expected = dtype == DType::kFloat8E5m2
                                   ? from_float8_e5m2_bits(float8_e5m2_bits(value))
                                   : from_float8_e4m3fn_bits(float8_e4m3fn_bits(value));
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(numbers[i])) << value;
        } else {
          ASSERT_EQ(numbers[i], expected) << value;
        }
      }
    };
    const Tensor small = ToDType::call(x, dtype);
    EXPECT_EQ(small.storage()->bytes(), given.size());
    expect_rounded(ToDType::call(small, DType::kFloat32), 1);
    expect_rounded(ToDType::call(small, DType::kFloat64), 1);
    const Tensor every_third = Slice::call(x, 0, 0, x.numel(), 3);
    expect_rounded(ToDType::call(ToDType::call(every_third, dtype), DType::kFloat32), 3);
    expect_rounded(ToDType::call(Slice::call(small, 0, 0, x.numel(), 3), DType::kFloat32), 3);
  }
}

TEST(Float8, PromotesWithNoOtherDType) {
  const Tensor x = full({2}, 1, DType::kFloat8E5m2);
  EXPECT_EQ(call<op::Add>(x, x).dtype(), DType::kFloat8E5m2);
  for (const DType other : {DType::kFloat32, DType::kInt64, DType::kFloat8E4m3fn})
    expect_error(ErrorCode::kDtypeMismatch, "no common dtype of",
                 [&] { call<op::Add>(x, full({2}, 1, other)); });
  expect_error(ErrorCode::kInvalidArgument, "449 does not fit float8_e4m3fn",
               [] { full({2}, 449, DType::kFloat8E4m3fn); });
}

}  // namespace
}  // namespace eg
