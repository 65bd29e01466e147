#pragma once

// Distances between the rows of two matrices in one kernel, which does not store their differences.
// It computes float32 on the CPU and its backward. When that backward is itself differentiated, it
// uses the formula.

#include "tensor/tensor.h"

namespace eg {

/// Whether fused_distances supports these inputs.
bool can_fuse_distances(const Tensor& x1, const Tensor& x2, double p);

/// The p-norms between the rows of x1 and those of x2, whose batches broadcast.
Tensor fused_distances(const Tensor& x1, const Tensor& x2, double p);

}  // namespace eg
