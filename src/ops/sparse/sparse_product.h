#pragma once

// Products of matrices of which at least one is sparse.

#include "tensor/tensor.h"

namespace eg {

/// a @ b for matrices that check_matrices() has accepted: sparse if both are, in CSR layout if both
/// are.
Tensor sparse_product(const Tensor& a, const Tensor& b);

/// The elements of left @ right at the positions of a sparse matrix, in its layout.
Tensor sampled_product(const Tensor& pattern_of, const Tensor& left, const Tensor& right);

}  // namespace eg
