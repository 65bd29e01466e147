#pragma once

// Normalization of channels over all samples and positions: a packed array is seen as
// [outer, channels, inner], with a mean, a variance and parameters per channel. All arrays hold
// floats.

#include <cstdint>
#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// The running statistics of every channel, packed; absent when nothing follows those of the input.
struct RunningChannels {
  double momentum;
  OptionalOut mean;
  OptionalOut variance;
};

/// Computes y = (x - mean) * rstd * weight + bias, and the statistics of every channel; `variance`
/// is the unbiased estimate. Running statistics become (1 - momentum) times themselves plus
/// momentum times those of the input.
struct ChannelNorm {
  static constexpr std::string_view name = "channel_norm";
  std::int64_t outer;
  std::int64_t channels;
  std::int64_t inner;
  double eps;
  In x;
  OptionalIn weight;  ///< ones when absent
  OptionalIn bias;    ///< zeros when absent
  Out y;
  Out mean;
  OptionalOut variance;
  Out rstd;
  RunningChannels running;

  void compute_on_cpu() const;
};

/// Computes the requested gradients from the gradient of y.
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
