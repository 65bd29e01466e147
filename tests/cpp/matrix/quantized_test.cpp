// markers: variant

// Matrices of few bits: values by hand, and products by their kernel beside those of the numbers.

#include "ops/matrix/quantized.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/create/copy.h"
#include "ops/matrix/matmul.h"
#include "support/errors.h"
#include "support/expect_near.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::generated;
using testing::leaf;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;
using Bytes = std::vector<std::uint8_t>;

TEST(Quantize, GivesTheLargestElementTheFirstCode) {
  const TensorList whole = Quantize::call(tensor({-1, 0.5, 0.25, 2, 0, -1}, {2, 3}), 8);
  EXPECT_EQ(values(whole[0]), (Values{0, 192, 160, 0, 128, 192}));
  EXPECT_EQ(values(whole[1]), (Values{1.0 / 128, -1.0 / 64}));
  // An odd number of columns leaves the upper half of the last byte empty.
  const TensorList halves = Quantize::call(tensor({-8, 3, 7, 4, -2, 1}, {2, 3}), 4);
  EXPECT_EQ(values(halves[0]), (Values{0 | 11 << 4, 15, 0 | 12 << 4, 6}));
  EXPECT_EQ(values(halves[1]), (Values{1, -0.5}));
}

TEST(Dequantize, MultipliesCodesByTheScaleOfTheirGroup) {
  const Tensor codes = tensor<std::uint8_t>({128, 129, 0, 255}, {2, 2});
  const Tensor scale = tensor({0.5, 2}, {2, 1});
  EXPECT_EQ(values(Dequantize::call(codes, scale)), (Values{0, 0.5, -256, 254}));
  const Tensor halves = tensor<std::uint8_t>({0x98, 0xf0}, {1, 2});
  EXPECT_EQ(values(Dequantize::call(halves, tensor({2}, {1, 1}), 4)), (Values{0, 2, -16, 14}));
}

struct Layout {
  std::int64_t count;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t bits;
  std::optional<std::int64_t> group;
};

class QuantizedProducts : public ::testing::TestWithParam<Layout> {};

// Up to four rows are multiplied in registers, more by blocks; columns and rows end within both.
TEST_P(QuantizedProducts, EqualThoseOfTheNumbers) {
  const auto& [count, rows, columns, bits, group] = GetParam();
  const auto wave = [](std::int64_t i) { return static_cast<double>(i * 37 % 101) / 50 - 1; };
  const TensorList stored = Quantize::call(generated<float>({rows, columns}, wave), bits, group);
  const Tensor x = generated<float>({count, columns}, [&](std::int64_t i) { return wave(i + 5); });
  const Tensor x64 =
      generated<double>({count, columns}, [&](std::int64_t i) { return wave(i + 5); });
  const Tensor bias = generated<float>({rows}, wave);
  const Tensor bias64 = generated<double>({rows}, wave);
  for (const Tensor& t : {x, x64, bias, bias64}) set_requires_grad(t, true);
  const auto call = [&](const Tensor& input, const Tensor& addend) {
    return QuantizedLinear::call(input, stored[0], stored[1], addend, bits, group);
  };
  const Tensor y = call(x, bias);
  // Float64 is composed of ops.
  const Tensor expected = call(x64, bias64);
  testing::expect_near(y, values(expected), 2e-4);
  GradOptions graph;
  graph.create_graph = true;
  const auto gradients = [&](const Tensor& result, const Tensor& input, const Tensor& addend) {
    const Tensor g = generated<float>(result.shape(), [&](std::int64_t i) { return wave(i + 3); });
    const Tensor weight = moved(ToDType::call(g, result.dtype()), result.device());
    set_requires_grad(weight, true);
    TensorList grads = grad({result}, {input, addend}, {weight}, graph);
    grads.push_back(grad({testing::sum(grads[0])}, {weight})[0]);
    return grads;
  };
  const TensorList actual = gradients(y, x, bias);
  const TensorList wanted = gradients(expected, x64, bias64);
  for (std::size_t i = 0; i < actual.size(); ++i)
    testing::expect_near(actual[i], values(wanted[i]), 2e-4);
}

INSTANTIATE_TEST_SUITE_P(Layouts, QuantizedProducts,
                         ::testing::Values(Layout{1, 9, 64, 8, {}}, Layout{1, 6, 33, 8, {}},
                                           Layout{2, 4, 31, 8, {}}, Layout{3, 5, 100, 8, 32},
                                           Layout{4, 7, 129, 8, 64}, Layout{5, 9, 70, 8, 32},
                                           Layout{7, 200, 550, 8, 128}, Layout{1, 9, 64, 4, {}},
                                           Layout{1, 5, 1, 4, {}}, Layout{2, 6, 33, 4, 32},
                                           Layout{3, 5, 129, 4, 64}, Layout{4, 7, 256, 4, 128},
                                           Layout{9, 33, 95, 4, 32}, Layout{6, 530, 140, 4, 64},
                                           Layout{1, 3, 4100, 8, {}}, Layout{3, 2, 2080, 4, 32}));

// Matrices of half precision are decoded by the same kernel.
TEST(LinearOfHalves, EqualsThatOfTheNumbers) {
  const auto wave = [](std::int64_t i) { return static_cast<double>(i * 37 % 101) / 64 - 1; };
  for (const DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    for (const std::int64_t count : {1, 2, 3, 6}) {
      for (const std::int64_t columns : {5, 64, 2081}) {
        const Tensor weight = ToDType::call(generated<float>({7, columns}, wave), dtype);
        const Tensor x = generated<float>({count, columns}, wave);
        const Tensor y = Linear::call(x, weight, {});
        ASSERT_EQ(y.dtype(), DType::kFloat32);
        const auto wide = [](const Tensor& t) { return ToDType::call(t, DType::kFloat64); };
        testing::expect_near(y, values(Linear::call(wide(x), wide(weight), {})), 1e-3);
      }
    }
  }
}

// Up to four rows are multiplied as integers, if these can be the numbers.
class NumbersOfAnySize : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(NumbersOfAnySize, AreMultiplied) {
  const std::int64_t bits = GetParam();
  const std::int64_t columns = 550;
  const auto wave = [](std::int64_t i) { return static_cast<double>(i * 37 % 101) / 50 - 1; };
  const auto weight = [&](std::int64_t i) { return i % columns == 300 ? 0 : wave(i); };
  const TensorList stored = Quantize::call(generated<float>({3, columns}, weight), bits, 96);
  const auto product = [&](const Tensor& x) {
    return values(QuantizedLinear::call(x, stored[0], stored[1], {}, bits, 96));
  };
  // The smallest have no scale that is a normal float.
  for (const double size : {1e-37, 1e-34, 1e-6, 1.0, 1e6, 1e30}) {
    // One number of each 32 is a million times as large as the others.
    const auto number = [&](std::int64_t i) {
      return size * wave(i + 5) * (i % 32 == 7 ? 1e6 : 1);
    };
    const auto actual = product(generated<float>({2, columns}, number));
    const auto expected = product(generated<double>({2, columns}, number));
    for (std::size_t i = 0; i < actual.size(); ++i)
      EXPECT_NEAR(actual[i], expected[i], 2e-7 * 1e6 * size * 32) << size;
  }
  // A large number, whose weights are zero, leaves those of other blocks their digits.
  const auto number = [](std::int64_t i) { return i == 300 ? 3e38 : i < 256 ? 1.25e-3 : 0; };
  const auto actual = product(generated<float>({1, columns}, number));
  const auto expected = product(generated<double>({1, columns}, number));
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 1e-7 * 256 * 1.25e-3);
  EXPECT_EQ(product(generated<float>({1, columns}, [](std::int64_t) { return 0; })),
            Values(3, 0.0));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double special : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    const auto one = [&](std::int64_t i) { return i == 40 ? special : 1; };
    const auto given = product(generated<float>({1, columns}, one));
    const auto wanted = product(generated<double>({1, columns}, one));
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (std::isnan(wanted[i]))
        EXPECT_TRUE(std::isnan(given[i]));
      else
        EXPECT_EQ(given[i], wanted[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bits, NumbersOfAnySize, ::testing::Values(4, 8));

TEST(QuantizedLinear, DifferentiatesScales) {
  const Tensor codes = tensor<std::uint8_t>({130, 127}, {1, 2});
  const Tensor scale = leaf({0.5}, {1, 1});
  const Tensor x = leaf({3, 4}, {1, 2});
  const Tensor y = QuantizedLinear::call(x, codes, scale);
  EXPECT_EQ(values(y), (Values{1}));
  const TensorList grads = grad({y}, {x, scale});
  EXPECT_EQ(values(grads[0]), (Values{1, -0.5}));
  EXPECT_EQ(values(grads[1]), (Values{2}));
}

TEST(QuantizedLinear, SaysWhatDoesNotFit) {
  const Tensor x = tensor({1, 2, 3, 4}, {1, 4});
  const Tensor codes = tensor<std::uint8_t>({1, 2, 3, 4}, {1, 4});
  const Tensor scale = tensor({1}, {1, 1});
  expect_error(ErrorCode::kInvalidArgument, "bits must be 4 or 8, got 3.",
               [&] { QuantizedLinear::call(x, codes, scale, {}, 3); });
  expect_error(ErrorCode::kInvalidArgument, "groupSize must be a positive multiple of 32, got 16.",
               [&] { QuantizedLinear::call(x, codes, scale, {}, 8, 16); });
  expect_error(ErrorCode::kShapeMismatch, "weight must have 2 bytes per row for the 4 features",
               [&] { QuantizedLinear::call(x, codes, scale, {}, 4); });
  expect_error(ErrorCode::kShapeMismatch, "scale must have the shape [rows, groups], [1, 1]",
               [&] { QuantizedLinear::call(x, codes, tensor({1}), {}, 8); });
  expect_error(ErrorCode::kDtypeMismatch, "weight must be uint8, got float32.",
               [&] { QuantizedLinear::call(x, x, scale); });
  expect_error(ErrorCode::kShapeMismatch, "bias must have the shape [1], got [2].",
               [&] { QuantizedLinear::call(x, codes, scale, tensor({1, 2})); });
}

}  // namespace
}  // namespace eg
