// markers: threads, variant, no-device

// The convolution kernels against the definition, for geometries that cover every edge case:
// partial tiles, a single row, rows and columns only in the padding, strides larger than the
// kernel.

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/conv.h"
#include "runtime/thread_pool.h"

namespace eg::kernel {
namespace {

struct Case {
  const char* name;
  Convolution conv;  // `out` is derived
};

std::vector<Case> cases() {
  return {
      {"tile_edges", {2, 1, 3, 7, {9, 11}, {3, 3}, {}, {1, 1}, {0, 0}, {1, 1}}},
      {"padded", {1, 1, 2, 13, {14, 14}, {5, 5}, {}, {1, 1}, {2, 2}, {1, 1}}},
      {"padding_beyond_kernel", {1, 1, 2, 3, {4, 5}, {2, 2}, {}, {1, 1}, {3, 6}, {1, 1}}},
      {"one_row", {3, 1, 4, 5, {1, 37}, {1, 4}, {}, {1, 1}, {0, 1}, {1, 2}}},
      {"one_column", {1, 1, 2, 4, {19, 1}, {3, 1}, {}, {2, 1}, {1, 0}, {1, 1}}},
      {"strided", {2, 1, 3, 4, {13, 18}, {3, 4}, {}, {2, 3}, {1, 2}, {1, 1}}},
      {"stride_beyond_kernel", {1, 1, 2, 3, {11, 10}, {2, 1}, {}, {4, 3}, {0, 1}, {1, 1}}},
      {"strided_and_dilated", {1, 2, 4, 6, {17, 15}, {3, 3}, {}, {2, 3}, {2, 3}, {2, 3}}},
      {"depthwise", {2, 6, 6, 6, {9, 21}, {3, 3}, {}, {1, 1}, {1, 1}, {1, 1}}},
      {"two_channels_per_group", {1, 3, 6, 6, {8, 13}, {3, 2}, {}, {1, 1}, {0, 1}, {1, 1}}},
      {"pointwise", {2, 1, 5, 9, {6, 7}, {1, 1}, {}, {1, 1}, {0, 0}, {1, 1}}},
      {"wide_rows", {1, 1, 20, 3, {40, 70}, {3, 3}, {}, {1, 1}, {1, 1}, {1, 1}}},
      {"many_images", {37, 1, 2, 5, {6, 6}, {3, 3}, {}, {1, 1}, {0, 0}, {1, 1}}},
      // Bundles of images, the last one partial: planes narrower than a vector, rows that are not a
      // multiple of a vector, positions that share few taps, a single row, strides, groups.
      {"bundles", {7, 1, 3, 7, {7, 7}, {3, 3}, {}, {1, 1}, {1, 1}, {1, 1}}},
      {"bundles_of_narrow_planes", {4, 1, 5, 8, {5, 3}, {3, 3}, {}, {1, 1}, {1, 1}, {1, 1}}},
      {"bundles_of_wide_padding", {8, 1, 4, 2, {6, 9}, {5, 5}, {}, {1, 1}, {4, 4}, {1, 1}}},
      {"bundles_of_one_row", {12, 1, 3, 5, {1, 10}, {1, 7}, {}, {1, 1}, {0, 5}, {1, 1}}},
      {"bundles_strided", {11, 1, 2, 6, {9, 10}, {3, 5}, {}, {2, 3}, {2, 4}, {1, 1}}},
      {"bundles_dilated", {4, 1, 2, 3, {13, 13}, {3, 3}, {}, {1, 1}, {4, 4}, {2, 4}}},
      {"bundles_of_groups", {15, 3, 6, 9, {6, 5}, {3, 3}, {}, {1, 1}, {1, 2}, {1, 1}}},
      {"bundles_of_bands", {4, 1, 48, 3, {40, 6}, {3, 3}, {}, {1, 1}, {1, 1}, {1, 1}}},
      // Winograd's algorithm: partial tiles, an odd number of vectors in a row of tiles, rows of
      // tiles that are cut, channels that do not fill a register tile, groups.
      {"winograd", {1, 1, 40, 33, {16, 16}, {3, 3}, {}, {1, 1}, {1, 1}, {1, 1}}},
      {"winograd_odd", {2, 1, 35, 38, {9, 13}, {3, 3}, {}, {1, 1}, {0, 1}, {1, 1}}},
      {"winograd_wide", {1, 1, 32, 32, {2, 150}, {3, 3}, {}, {1, 1}, {1, 0}, {1, 1}}},
      {"winograd_groups", {2, 2, 80, 80, {14, 6}, {3, 3}, {}, {1, 1}, {1, 2}, {1, 1}}},
      {"no_images", {0, 1, 2, 2, {5, 5}, {3, 3}, {}, {1, 1}, {0, 0}, {1, 1}}},
  };
}

std::vector<double> numbers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> result(static_cast<std::size_t>(count));
  for (double& x : result) x = uniform(random);
  return result;
}

template <class T>
MemoryView memory_of(const std::vector<T>& values) {
  return {const_cast<T*>(values.data()), 0, dtype_of<T>(), {}};
}

// Calls visit(out index, in index, weight index) for every product of the definition.
template <class Visit>
void for_each_product(const Convolution& c, Visit&& visit) {
  const std::int64_t in_channels = c.in_channels / c.groups;
  const std::int64_t out_channels = c.out_channels / c.groups;
  for (std::int64_t n = 0; n < c.batch; ++n)
    for (std::int64_t o = 0; o < c.out_channels; ++o)
      for (std::int64_t y = 0; y < c.out[0]; ++y)
        for (std::int64_t x = 0; x < c.out[1]; ++x)
          for (std::int64_t i = 0; i < in_channels; ++i)
            for (std::int64_t ky = 0; ky < c.kernel[0]; ++ky)
              for (std::int64_t kx = 0; kx < c.kernel[1]; ++kx) {
                const std::int64_t row = y * c.stride[0] + ky * c.dilation[0] - c.padding[0];
                const std::int64_t column = x * c.stride[1] + kx * c.dilation[1] - c.padding[1];
                if (row < 0 || row >= c.in[0] || column < 0 || column >= c.in[1]) continue;
                const std::int64_t channel = o / out_channels * in_channels + i;
                visit(((n * c.out_channels + o) * c.out[0] + y) * c.out[1] + x,
                      ((n * c.in_channels + channel) * c.in[0] + row) * c.in[1] + column,
                      ((o * in_channels + i) * c.kernel[0] + ky) * c.kernel[1] + kx);
              }
}

class ConvKernel : public testing::TestWithParam<Case> {
 protected:
  ConvKernel() : conv_(GetParam().conv) {
    for (std::size_t d = 0; d < 2; ++d)
      conv_.out[d] =
          (conv_.in[d] + 2 * conv_.padding[d] - conv_.dilation[d] * (conv_.kernel[d] - 1) - 1) /
              conv_.stride[d] +
          1;
    in_ = numbers(conv_.batch * conv_.in_channels * conv_.in[0] * conv_.in[1], 1);
    weight_ = numbers(
        conv_.out_channels * conv_.in_channels / conv_.groups * conv_.kernel[0] * conv_.kernel[1],
        2);
    out_ = numbers(conv_.batch * conv_.out_channels * conv_.out[0] * conv_.out[1], 3);
  }

  template <class T>
  static void expect_close(const std::vector<T>& actual, const std::vector<double>& expected) {
    const double tolerance = sizeof(T) == sizeof(float) ? 1e-4 : 1e-12;
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << "at " << i;
  }

  template <class T>
  static std::vector<T> as(const std::vector<double>& values) {
    return {values.begin(), values.end()};
  }

  // Results start as NaN, so that elements that are not written are noticed.
  template <class T>
  static std::vector<T> unwritten(const std::vector<double>& like) {
    return std::vector<T>(like.size(), std::numeric_limits<T>::quiet_NaN());
  }

  template <class T>
  void expect_definition() {
    std::vector<double> out(out_.size());
    std::vector<double> grad_in(in_.size());
    std::vector<double> grad_weight(weight_.size());
    const std::vector<double> bias = numbers(conv_.out_channels, 4);
    const std::vector<double> in_bias = numbers(conv_.in_channels, 5);
    const std::int64_t places = conv_.out[0] * conv_.out[1];
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] =
          bias[i / static_cast<std::size_t>(places) % static_cast<std::size_t>(conv_.out_channels)];
    const std::int64_t in_places = conv_.in[0] * conv_.in[1];
    for (std::size_t i = 0; i < grad_in.size(); ++i)
      grad_in[i] = in_bias[i / static_cast<std::size_t>(in_places) %
                           static_cast<std::size_t>(conv_.in_channels)];
    for_each_product(conv_, [&](std::size_t o, std::size_t i, std::size_t w) {
      out[o] += in_[i] * weight_[w];
      grad_in[i] += out_[o] * weight_[w];
      grad_weight[w] += out_[o] * in_[i];
    });
    const std::vector<T> x = as<T>(in_);
    const std::vector<T> weight = as<T>(weight_);
    const std::vector<T> grad_y = as<T>(out_);
    std::vector<T> result = unwritten<T>(out);
    run(Convolve{conv_, memory_of(x), memory_of(weight), memory_of(as<T>(bias)),
                 memory_of(result)});
    expect_close(result, out);
    result = unwritten<T>(grad_in);
    run(ConvolveBackwardInput{conv_, memory_of(grad_y), memory_of(weight),
                              memory_of(as<T>(in_bias)), memory_of(result)});
    expect_close(result, grad_in);
    result = unwritten<T>(grad_weight);
    run(ConvolveBackwardWeight{conv_, memory_of(grad_y), memory_of(x), memory_of(result)});
    expect_close(result, grad_weight);
  }

  Convolution conv_;
  std::vector<double> in_;
  std::vector<double> weight_;
  std::vector<double> out_;
};

TEST_P(ConvKernel, EqualsTheDefinitionInFloat32) { expect_definition<float>(); }
TEST_P(ConvKernel, EqualsTheDefinitionInFloat64) { expect_definition<double>(); }

// A NaN reaches exactly the elements that read it, however tiles are rounded up.
TEST_P(ConvKernel, KeepsPlacesApart) {
  std::vector<float> in = as<float>(in_);
  if (in.empty()) return;
  in[in.size() / 2] = std::numeric_limits<float>::quiet_NaN();
  std::vector<bool> reads_nan(out_.size());
  for_each_product(conv_, [&](std::size_t o, std::size_t i, std::size_t) {
    if (i == in.size() / 2) reads_nan[o] = true;
  });
  std::vector<float> result(out_.size());
  run(Convolve{conv_, memory_of(in), memory_of(as<float>(weight_)), {}, memory_of(result)});
  for (std::size_t i = 0; i < result.size(); ++i)
    ASSERT_EQ(std::isnan(result[i]), reads_nan[i]) << "at " << i;
}

// So does an infinity; the slower path that it forces does not affect other images.
TEST_P(ConvKernel, KeepsInfinities) {
  std::vector<float> in = as<float>(in_);
  if (in.empty()) return;
  const std::vector<float> weight = as<float>(weight_);
  const std::vector<float> grad_y = as<float>(out_);
  std::vector<float> finite(out_.size());
  run(Convolve{conv_, memory_of(in), memory_of(weight), {}, memory_of(finite)});
  const std::size_t place = in.size() / 2;
  in[place] = std::numeric_limits<float>::infinity();
  std::vector<float> expected = finite;
  std::vector<float> expected_weight(weight_.size());
  for_each_product(conv_, [&](std::size_t o, std::size_t i, std::size_t w) {
    if (i != place) return;
    expected[o] = in[i] * weight[w];
    expected_weight[w] += in[i] * grad_y[o];
  });
  std::vector<float> result(out_.size());
  run(Convolve{conv_, memory_of(in), memory_of(weight), {}, memory_of(result)});
  const std::size_t image = result.size() / static_cast<std::size_t>(conv_.batch);
  const std::size_t touched = place / (in.size() / static_cast<std::size_t>(conv_.batch));
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (std::isfinite(expected[i]) && i / image == touched)
      ASSERT_NEAR(result[i], expected[i], 1e-3) << "at " << i;
    else
      ASSERT_EQ(result[i], expected[i]) << "at " << i;
  }
  std::vector<float> weight_result(weight_.size());
  run(ConvolveBackwardWeight{conv_, memory_of(grad_y), memory_of(in), memory_of(weight_result)});
  for (std::size_t i = 0; i < weight_result.size(); ++i) {
    if (std::isinf(expected_weight[i]))
      ASSERT_EQ(weight_result[i], expected_weight[i]) << "at " << i;
    else
      ASSERT_EQ(std::isnan(weight_result[i]), std::isnan(expected_weight[i])) << "at " << i;
  }
}

// The result of an image depends neither on the other images nor on the number of threads.
TEST_P(ConvKernel, GivesTheSameBitsAloneAndAmongOthers) {
  if (conv_.batch == 0) return;
  const std::vector<float> in = as<float>(in_);
  const std::vector<float> weight = as<float>(weight_);
  const std::vector<float> grad_y = as<float>(out_);
  std::vector<float> together(out_.size());
  std::vector<float> grad_weight(weight_.size());
  run(Convolve{conv_, memory_of(in), memory_of(weight), {}, memory_of(together)});
  run(ConvolveBackwardWeight{conv_, memory_of(grad_y), memory_of(in), memory_of(grad_weight)});
  set_num_threads(4);
  std::vector<float> shared(out_.size());
  std::vector<float> shared_weight(weight_.size());
  run(Convolve{conv_, memory_of(in), memory_of(weight), {}, memory_of(shared)});
  run(ConvolveBackwardWeight{conv_, memory_of(grad_y), memory_of(in), memory_of(shared_weight)});
  set_num_threads(1);
  EXPECT_EQ(shared, together);
  EXPECT_EQ(shared_weight, grad_weight);
  Convolution one = conv_;
  one.batch = 1;
  const auto last_of = [&](const std::vector<float>& all) {
    const auto size = static_cast<std::ptrdiff_t>(all.size()) / conv_.batch;
    return std::vector<float>(all.end() - size, all.end());
  };
  const std::vector<float> last = last_of(in);
  std::vector<float> alone(out_.size() / static_cast<std::size_t>(conv_.batch));
  run(Convolve{one, memory_of(last), memory_of(weight), {}, memory_of(alone)});
  EXPECT_EQ(alone, last_of(together));
}

INSTANTIATE_TEST_SUITE_P(Geometries, ConvKernel, testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace eg::kernel
