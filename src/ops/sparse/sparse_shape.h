#pragma once

// Sparse tensors with other dimensions.

#include <optional>

#include "base/dtype.h"
#include "base/shape.h"
#include "tensor/tensor.h"

namespace eg {

/// `t` with two of its dimensions exchanged; a copy, not a view.
Tensor transpose_sparse(const Tensor& t, std::int64_t dim0, std::int64_t dim1);

/// `t` with its dimensions in the order `dims`, in which those of the values come last, as those of
/// a batch of matrices come first; a copy, not a view.
Tensor permute_sparse(const Tensor& t, const Dims& dims);

/// `t` with a dimension of size one inserted at `dim`, in COO layout if it is not one of the
/// values.
Tensor unsqueeze_sparse(const Tensor& t, std::int64_t dim);

/// `t` with dimensions of size one repeated to the sizes of `shape`, and new ones in front, in COO
/// layout; itself if it has the shape.
Tensor expand_sparse(const Tensor& t, const Shape& shape);

/// The slices of `t` at `index` along `dim`, in COO layout.
Tensor index_select_sparse(const Tensor& t, std::int64_t dim, const Tensor& index);

/// The tensors, all of them sparse, one after the other along `dim`.
Tensor cat_sparse(const TensorList& tensors, std::int64_t dim);

/// The sum over `dim`, or of all elements: sparse if sparse dimensions are left.
Tensor sum_sparse(const Tensor& t, const std::optional<Dims>& dim, bool keepdim,
                  std::optional<DType> dtype);

}  // namespace eg
