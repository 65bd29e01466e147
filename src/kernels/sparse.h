#pragma once

// Products of a sparse matrix A in CSR layout, and systems of equations. Everything is packed; the
// dtypes are float32, float64, complex64 and complex128, the same for all operands.

#include <cstdint>
#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// Where the elements of a sparse matrix are.
struct CsrPattern {
  std::int64_t rows;
  std::int64_t columns;
  In row_starts;      ///< int64 [rows + 1]
  In column_indices;  ///< int64 [nnz]
};

/// product = A dense, or transposed(A) dense.
struct CsrProduct {
  static constexpr std::string_view name = "csr_product";
  CsrPattern pattern;
  bool transposed;
  std::int64_t width;
  In values;    ///< [nnz]
  In dense;     ///< [columns, width]; with transposed [rows, width]
  Out product;  ///< [rows, width]; with transposed [columns, width], filled with zeros

  void compute_on_cpu() const;
};

/// For each element of A, at row i and column j: the sum of the products of left[i] and right[j].
struct SampledProduct {
  static constexpr std::string_view name = "sampled_product";
  CsrPattern pattern;
  std::int64_t width;
  In left;      ///< [rows, width]
  In right;     ///< [columns, width]
  Out samples;  ///< [nnz]

  void compute_on_cpu() const;
};

/// The number of elements in each row of the product of two sparse matrices: those for which the
/// two have values to multiply.
struct SparseProductCounts {
  static constexpr std::string_view name = "sparse_product_counts";
  CsrPattern left;
  CsrPattern right;
  Out counts;  ///< int64 [rows of left]

  void compute_on_cpu() const;
};

/// The product of two sparse matrices, in CSR layout.
struct SparseProduct {
  static constexpr std::string_view name = "sparse_product";
  CsrPattern left;
  CsrPattern right;
  In left_values;
  In right_values;
  In row_starts;       ///< int64 [rows of left + 1]: the sums of the counts
  Out column_indices;  ///< int64 [nnz of the product]
  Out values;          ///< [nnz of the product]

  void compute_on_cpu() const;
};

/// The gradients of the values of a SparseProduct, from that of its values: for each element of a
/// factor, the sum over its products of the other factor times the gradient of the product. The
/// values of complex factors are conjugates.
struct SparseProductGradients {
  static constexpr std::string_view name = "sparse_product_gradients";
  CsrPattern left;
  CsrPattern right;
  CsrPattern product;
  In left_values;
  In right_values;
  In grad;                 ///< [nnz of the product]
  OptionalOut left_grad;   ///< [nnz of left]
  OptionalOut right_grad;  ///< [nnz of right], filled with zeros

  void compute_on_cpu() const;
};

/// solution with A solution = right for a square A, or with adjoint for its conjugate transpose;
/// computed in double precision.
struct SparseSolve {
  static constexpr std::string_view name = "sparse_solve";
  CsrPattern pattern;
  bool adjoint;
  std::int64_t width;
  In values;        ///< [nnz]
  In right;         ///< [rows, width]
  Out solution;     ///< [rows, width]
  Out is_singular;  ///< int64: 1 if there is no unique solution, which is then not written, else 0

  void compute_on_cpu() const;
};

using SparseKernels = TypeList<CsrProduct, SampledProduct, SparseProductCounts, SparseProduct,
                               SparseProductGradients, SparseSolve>;

}  // namespace eg::kernel
