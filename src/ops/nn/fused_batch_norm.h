#pragma once

// Batch norm with the statistics of the batch, in one kernel. Under create_graph its gradient is
// composed of ops.

#include <optional>

#include "tensor/tensor.h"

namespace eg {

/// Whether the kernel supports the input: not empty, of the same dtype and on the same device as
/// its parameters.
bool can_fuse_batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                         const std::optional<Tensor>& bias);

/// The normalized input, recorded, and the statistics of every channel.
struct BatchNormed {
  Tensor result;
  Tensor mean;
  Tensor unbiased_variance;
};

/// The running statistics of every channel, which follow those of the input.
struct RunningStatistics {
  std::optional<Tensor> mean;
  std::optional<Tensor> variance;
  double momentum = 0;
};
/// Whether the kernel can update them: packed tensors without a gradient in memory of their own,
/// of the dtype and on the device of the input.
bool can_fuse_running(const RunningStatistics& running, const Tensor& input);

/// Also updates `running`, unless that is empty; the variance of the result is undefined then.
BatchNormed fused_batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                             const std::optional<Tensor>& bias, double eps,
                             const RunningStatistics& running);

}  // namespace eg
