#pragma once

// Products of matrices of which at least one is sparse.

#include <utility>

#include "kernels/sparse.h"
#include "ops/sparse/sparse_parts.h"
#include "tensor/tensor.h"

namespace eg {

/// The positions of a sparse matrix in CSR layout, and its size.
struct CsrMatrix {
  explicit CsrMatrix(const Pieces& pieces) : CsrMatrix(pieces.shape, pieces.pattern) {}
  CsrMatrix(Shape shape, IntrusivePtr<SparsePattern> pattern)
      : shape(std::move(shape)), pattern(std::move(pattern)) {}

  kernel::CsrPattern positions() const {
    return {shape[0], shape[1], pattern->row_starts.memory(), pattern->indices.memory()};
  }

  Shape shape;
  IntrusivePtr<SparsePattern> pattern;
};

/// a @ b for matrices that check_matrices() has accepted: sparse if both are, in CSR layout if both
/// are.
Tensor sparse_product(const Tensor& a, const Tensor& b);

/// The elements of left @ transposed(right) at the positions of a matrix: its values.
Tensor sampled_values(const CsrMatrix& matrix, const Tensor& left, const Tensor& right);

/// Throws DtypeMismatch unless `t` has floating-point or complex numbers.
void check_fractional(const Tensor& t, std::string_view op);

/// The elements of left @ right at the positions of a sparse matrix, in its layout.
Tensor sampled_product(const Tensor& pattern_of, const Tensor& left, const Tensor& right);

}  // namespace eg
