#pragma once

// Convolution over planes, and its two gradients.
//
// The three kernels are linear in each operand, and each is a gradient of the others: y from x and
// weight, grad_x from grad_y and weight, grad_weight from grad_y and x. The second one is also the
// transposed convolution. All arrays are packed and hold floats: planes are [batch, channels, rows,
// columns], the weight is [out_channels, in_channels / groups, rows, columns].

#include <array>
#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// The sizes and strides of a two-dimensional convolution; pairs are (rows, columns).
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
  Pair padding;  ///< before the first row and column; the padding after the last follows from `out`
  Pair dilation;
};

/// Computes y from x and weight, plus `bias` (one number per output channel) if present.
struct Convolve {
  static constexpr std::string_view name = "convolve";
  Convolution conv;
  In x;
  In weight;
  OptionalIn bias;
  Out y;

  void compute_on_cpu() const;
};

/// Computes the gradient of x from the gradient of y, plus `bias` (one number per input channel) if
/// present.
struct ConvolveBackwardInput {
  static constexpr std::string_view name = "convolve_backward_input";
  Convolution conv;
  In grad_y;
  In weight;
  OptionalIn bias;
  Out grad_x;

  void compute_on_cpu() const;
};

/// Computes the gradient of weight, summed in the order of the images.
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
