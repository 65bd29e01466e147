#pragma once

// Convolution over planes, and its two gradients.
//
// The three are linear in each operand and each other's gradients: the result from the input and
// the weight, the input's gradient from the result's and the weight, the weight's from the result's
// and the input. A transposed convolution is the second, which in turn is one plain convolution for
// every remainder of a place by the stride. No matrix of columns is made: tiles of results are
// summed in registers from planes that were copied once, with their padding (conv_planes.h). All
// arrays lie packed.

#include <array>
#include <cstdint>

namespace eg::cpu {

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

/// Computes out from in and weight, plus `bias` (a number per output channel) where it is not null.
template <class T>
void convolve(const Convolution& conv, const T* in, const T* weight, const T* bias, T* out);

/// Computes the gradient of in from that of out, plus `bias` (a number per input channel) where it
/// is not null.
template <class T>
void convolve_backward_input(const Convolution& conv, const T* grad_out, const T* weight,
                             const T* bias, T* grad_in);

/// Computes the gradient of weight, summed in the order of the images.
template <class T>
void convolve_backward_weight(const Convolution& conv, const T* grad_out, const T* in,
                              T* grad_weight);

}  // namespace eg::cpu
