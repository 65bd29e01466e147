#pragma once

// Convolution over planes, and its two gradients.
//
// The three are linear in each operand and each other's gradients: the result from the input and
// the weight, the input's gradient from the result's and the weight, the weight's from the result's
// and the input. A transposed convolution is the second. All arrays are of floats and lie packed:
// planes as [batch, channels, rows, columns], the weight as [out_channels, in_channels / groups,
// rows, columns].

#include <array>
#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// Sizes and steps of a two-dimensional convolution; pairs are rows, columns.
struct Convolution {
  using Pair = std::array<std::int64_t, 2>;

  std::int64_t batch;
  std::int64_t groups;
  std::int64_t in_channels;
  std::int64_t out_channels;
  Pair in;
  Pair kernel;
  Pair out;
  Pair stride;
  Pair padding;  ///< before the first row and column; what lies behind the last follows from `out`
  Pair dilation;
};

/// y from x and weight, plus `bias` (a number per output channel) where there is one.
struct Convolve {
  static constexpr std::string_view name = "convolve";
  Convolution conv;
  In x;
  In weight;
  OptionalIn bias;
  Out y;

  void compute_on_cpu() const;
};

/// The gradient of x from that of y, plus `bias` (a number per input channel) where there is one.
struct ConvolveBackwardInput {
  static constexpr std::string_view name = "convolve_backward_input";
  Convolution conv;
  In grad_y;
  In weight;
  OptionalIn bias;
  Out grad_x;

  void compute_on_cpu() const;
};

/// The gradient of weight, summed in the order of the images.
struct ConvolveBackwardWeight {
  static constexpr std::string_view name = "convolve_backward_weight";
  Convolution conv;
  In grad_y;
  In x;
  Out grad_weight;

  void compute_on_cpu() const;
};

using ConvKernels = TypeList<Convolve, ConvolveBackwardInput, ConvolveBackwardWeight>;

}  // namespace eg::kernel
