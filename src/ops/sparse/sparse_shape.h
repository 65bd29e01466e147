#pragma once

// Sparse tensors with other dimensions.

#include <optional>

#include "base/dtype.h"
#include "base/shape.h"
#include "tensor/tensor.h"

namespace eg {

/// `t` with two of its sparse dimensions exchanged; a copy, not a view.
Tensor transpose_sparse(const Tensor& t, std::int64_t dim0, std::int64_t dim1);

/// The tensors, all of them sparse, one after the other along `dim`, which is sparse.
Tensor cat_sparse(const TensorList& tensors, std::int64_t dim);

/// The sum over `dim`, or of all elements: sparse if sparse dimensions are left.
Tensor sum_sparse(const Tensor& t, const std::optional<Dims>& dim, bool keepdim,
                  std::optional<DType> dtype);

}  // namespace eg
