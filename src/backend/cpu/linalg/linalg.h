#pragma once

// Factorisations of packed row-major batches of matrices, by Eigen: what comes from the triangles
// of a square matrix here, the orthogonal ones in decompositions.h.

#include <cstdint>

#include "base/dtype.h"

namespace eg::cpu {

/// A batch of rows x columns matrices.
struct MatrixBatch {
  DType dtype;  ///< float32 or float64, also of what is computed from them
  std::int64_t count;
  std::int64_t rows;
  std::int64_t columns;
  const void* data;
};

/// Where a factorisation came upon a zero, or not positive, pivot.
struct Breakdown {
  std::int64_t matrix = -1;  ///< the first in the batch; -1 when there is none
  std::int64_t order = 0;    ///< of the pivot, counted from 1
};

/// Computes, of every square matrix, the determinant, its sign (0 when singular) and the logarithm
/// of its magnitude. Returns the first singular matrix.
Breakdown determinants(const MatrixBatch& a, void* det, void* sign, void* log_abs);

/// Solves a x = b for matrices `b` with `columns` columns; null means the identity. What is
/// computed from a singular matrix is not finite.
Breakdown solve(const MatrixBatch& a, std::int64_t columns, const void* b, void* x);

/// Computes the lower factors of positive-definite matrices from their lower triangles.
Breakdown cholesky(const MatrixBatch& a, void* l);

}  // namespace eg::cpu
