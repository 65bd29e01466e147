#pragma once

// Distances between the rows of two matrices in one kernel, which does not hold their differences.
// It serves float32 on the CPU and plain backward; further derivatives are those of the formula.

#include "tensor/tensor.h"

namespace eg {

/// Whether fused_distances can take these.
bool can_fuse_distances(const Tensor& x1, const Tensor& x2, double p);

/// The p-norms between the rows of x1 and those of x2, whose batches broadcast.
Tensor fused_distances(const Tensor& x1, const Tensor& x2, double p);

}  // namespace eg
