#pragma once

// Products of a sparse matrix A in CSR layout with dense ones. Everything is packed; the dtypes are
// float32, float64, complex64 and complex128, the same for all operands.

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

using SparseKernels = TypeList<CsrProduct, SampledProduct>;

}  // namespace eg::kernel
