#pragma once

// Normalising channels over all samples and places: a packed array seen as [outer, channels, inner]
// with a mean, a variance and parameters per channel. All arrays are of floats.

#include <cstdint>
#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// y = (x - mean) * rstd * weight + bias, and the statistics of every channel; the variance is the
/// unbiased one.
struct ChannelNorm {
  static constexpr std::string_view name = "channel_norm";
  std::int64_t outer;
  std::int64_t channels;
  std::int64_t inner;
  double eps;
  In x;
  OptionalIn weight;  ///< ones where there is none
  OptionalIn bias;    ///< zeros where there is none
  Out y;
  Out mean;
  Out variance;
  Out rstd;

  void compute_on_cpu() const;
};

/// The gradients from that of y, each where it is wanted.
struct ChannelNormBackward {
  static constexpr std::string_view name = "channel_norm_backward";
  std::int64_t outer;
  std::int64_t channels;
  std::int64_t inner;
  In x;
  OptionalIn weight;
  In mean;
  In rstd;
  In grad_y;
  OptionalOut grad_x;
  OptionalOut grad_weight;
  OptionalOut grad_bias;

  void compute_on_cpu() const;
};

using ChannelNormKernels = TypeList<ChannelNorm, ChannelNormBackward>;

}  // namespace eg::kernel
