#pragma once

// Batch norm by its statistics over the batch, in one kernel. Its gradient under create_graph is
// the formula over ops.

#include <optional>

#include "tensor/tensor.h"

namespace eg {

/// Whether the kernel can normalise such an input: on the CPU, not empty, of one dtype with its
/// parameters.
bool can_fuse_batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                         const std::optional<Tensor>& bias);

/// The normalised input, recorded, and the statistics of every channel.
struct BatchNormed {
  Tensor result;
  Tensor mean;
  Tensor unbiased_variance;
};
BatchNormed fused_batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                             const std::optional<Tensor>& bias, double eps);

}  // namespace eg
