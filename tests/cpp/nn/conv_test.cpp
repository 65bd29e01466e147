// markers: threads, variant

#include "ops/nn/conv.h"

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "runtime/thread_pool.h"
#include "support/errors.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::tensor;
using testing::values;

using List = std::vector<double>;

template <class T = double>
Tensor waves(const Shape& shape, double phase) {
  return testing::generated<T>(
      shape, [&](std::int64_t i) { return std::sin(0.7 * static_cast<double>(i) + phase); });
}

struct Steps {
  std::int64_t stride;
  std::int64_t padding;
  std::int64_t dilation;
  std::int64_t groups;
};

// The definition, element by element.
List direct_conv2d(const Tensor& any_x, const Tensor& any_w, const Steps& s,
                   const Shape& out_shape) {
  const Tensor x = on_host(any_x);
  const Tensor w = on_host(any_w);
  const auto at = [](const Tensor& t, std::int64_t a, std::int64_t b, std::int64_t c,
                     std::int64_t d) {
    return t.data_as<double>()[((a * t.size(1) + b) * t.size(2) + c) * t.size(3) + d];
  };
  List out;
  const std::int64_t per_group = w.size(0) / s.groups;
  for (std::int64_t n = 0; n < out_shape[0]; ++n) {
    for (std::int64_t o = 0; o < out_shape[1]; ++o) {
      for (std::int64_t y = 0; y < out_shape[2]; ++y) {
        for (std::int64_t z = 0; z < out_shape[3]; ++z) {
          double sum = 0;
          for (std::int64_t c = 0; c < w.size(1); ++c) {
            for (std::int64_t i = 0; i < w.size(2); ++i) {
              for (std::int64_t j = 0; j < w.size(3); ++j) {
                const std::int64_t row = y * s.stride - s.padding + i * s.dilation;
                const std::int64_t column = z * s.stride - s.padding + j * s.dilation;
                if (row < 0 || column < 0 || row >= x.size(2) || column >= x.size(3)) continue;
                sum += at(x, n, o / per_group * w.size(1) + c, row, column) * at(w, o, c, i, j);
              }
            }
          }
          out.push_back(sum);
        }
      }
    }
  }
  return out;
}

TEST(ConvOps, Conv2dIsItsDefinition) {
  const Steps cases[] = {{1, 0, 1, 1}, {2, 1, 1, 1}, {1, 3, 2, 2}, {3, 2, 1, 2}, {2, 0, 3, 4}};
  for (const Steps& s : cases) {
    const Tensor x = waves({2, 4, 11, 9}, 0.1);
    const Tensor w = waves({8, 4 / s.groups, 3, 2}, 0.5);
    const Tensor out =
        Conv2d::call(x, w, {}, {s.stride}, {{}, {s.padding}}, {s.dilation}, s.groups);
    const List expected = direct_conv2d(x, w, s, out.shape());
    const List actual = values(out);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-12);
  }
}

// The three parts of a convolution are transposes of each other: <y, x * w> = <x, yᵀ w> = <w, ...>.
// Large enough for several tiles, images and threads.
TEST(ConvOps, GradientsAreTransposesAcrossTilesAndThreads) {
  const auto run = [] {
    const Tensor x = waves({3, 16, 70, 61}, 0.2);
    const Tensor w = waves({6, 8, 3, 3}, 0.4);
    const Tensor bias = waves({6}, 0.9);
    for (const Tensor& t : {x, w, bias}) set_requires_grad(t, true);
    const Tensor out = Conv2d::call(x, w, bias, {2, 1}, {{}, {1}}, {1}, 2);
    const Tensor y = waves(out.shape(), 0.3);
    backward({out}, {y});
    return std::vector{values(out),  values(y),       values(x),       values(w),
                       values(bias), values(grad(x)), values(grad(w)), values(grad(bias))};
  };
  const auto r = run();
  const auto dot = [](const List& a, const List& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  const double without_bias = dot(r[0], r[1]) - dot(r[4], r[7]);
  EXPECT_NEAR(dot(r[2], r[5]), without_bias, 1e-8 * std::abs(without_bias) + 1e-8);
  EXPECT_NEAR(dot(r[3], r[6]), without_bias, 1e-8 * std::abs(without_bias) + 1e-8);
  set_num_threads(3);
  const auto shared = run();
  set_num_threads(1);
  EXPECT_EQ(r, shared);
}

TEST(ConvOps, KnownValuesInOneDimension) {
  const Tensor x = tensor<double>({1, 2, 3, 4}, {1, 1, 4});
  const Tensor w = tensor<double>({1, 10}, {1, 1, 2});
  EXPECT_EQ(values(Conv1d::call(x, w)), (List{21, 32, 43}));
  // For an even kernel the extra padding is at the end.
  EXPECT_EQ(values(Conv1d::call(x, w, {}, {1}, {Padding::Kind::kSame, {}})), (List{21, 32, 43, 4}));
  EXPECT_EQ(values(Conv1d::call(x, w, tensor<double>({0.5}), {2}, {{}, {1}})),
            (List{10.5, 32.5, 4.5}));
  EXPECT_EQ(values(ConvTranspose1d::call(x, w, {}, {2})), (List{1, 10, 2, 20, 3, 30, 4, 40}));
  EXPECT_EQ(values(ConvTranspose1d::call(x, w, tensor<double>({1}), {3}, {1}, {1})),
            (List{11, 1, 3, 21, 1, 4, 31, 1, 5, 41}));
}

TEST(ConvOps, InputsWithoutBatchAndEmptyBatches) {
  const Tensor w = waves({3, 2, 2, 2}, 0);
  EXPECT_EQ(Conv2d::call(waves({2, 4, 5}, 1), w).shape(), (Shape{3, 3, 4}));
  EXPECT_EQ(Conv2d::call(waves({0, 2, 4, 5}, 1), w).shape(), (Shape{0, 3, 3, 4}));
  EXPECT_EQ(ConvTranspose2d::call(waves({3, 4, 5}, 1), w).shape(), (Shape{2, 5, 6}));
}

TEST(ConvOps, MistakesAreNamed) {
  const Tensor x = waves({1, 2, 4, 4}, 0);
  const Tensor w = waves({4, 2, 3, 3}, 0);
  expect_error(ErrorCode::kShapeMismatch,
               "[conv2d] input must have 3 dimensions or, with a batch, 4, got shape [4]",
               [&] { Conv2d::call(waves({4}, 0), w); });
  expect_error(ErrorCode::kShapeMismatch, "input must have 2 channels",
               [&] { Conv2d::call(waves({1, 3, 4, 4}, 0), w); });
  expect_error(ErrorCode::kShapeMismatch,
               "a kernel of size 3 does not fit a padded input of size 2",
               [&] { Conv2d::call(waves({1, 2, 2, 2}, 0), w); });
  expect_error(ErrorCode::kShapeMismatch, "bias must be a vector of 4 elements",
               [&] { Conv2d::call(x, w, waves({3}, 0)); });
  expect_error(ErrorCode::kDtypeMismatch, "must be float64 like input, got float32",
               [&] { Conv2d::call(x, waves<float>({4, 2, 3, 3}, 0)); });
  expect_error(ErrorCode::kInvalidArgument, "padding 'same' requires stride 1, got 2",
               [&] { Conv2d::call(x, w, {}, {2}, {Padding::Kind::kSame, {}}); });
  expect_error(ErrorCode::kInvalidArgument, "stride must be positive, got 0",
               [&] { Conv2d::call(x, w, {}, {0}); });
  expect_error(ErrorCode::kInvalidArgument,
               "outputPadding must be less than stride or dilation, got 1",
               [&] { ConvTranspose2d::call(waves({1, 4, 2, 2}, 0), w, {}, {1}, {0}, {1}); });
}

}  // namespace
}  // namespace eg
