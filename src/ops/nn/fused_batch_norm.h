#pragma once

// Batch norm with the statistics of the batch, in one kernel. Under create_graph its gradient is
// composed of ops.

#include <optional>

#include "tensor/tensor.h"

namespace eg {

/// Whether the kernel supports the input: on the CPU, not empty, of the same dtype as its
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
