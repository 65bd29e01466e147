#pragma once

// Factorisations of packed row-major batches of square matrices, by Eigen. Everything is computed
// in double: one instantiation serves both dtypes, and half of the code is not downloaded.

#include <cstdint>

#include "base/dtype.h"

namespace eg::cpu {

/// A batch of n x n matrices.
struct SquareMatrices {
  DType dtype;  ///< float32 or float64, also of what is computed from them
  std::int64_t count;
  std::int64_t n;
  const void* data;
};

/// Where a factorisation came upon a zero, or not positive, pivot.
struct Breakdown {
  std::int64_t matrix = -1;  ///< the first in the batch; -1 when there is none
  std::int64_t order = 0;    ///< of the pivot, counted from 1
};

/// Computes, of every matrix, the determinant, its sign (0 when singular) and the logarithm of its
/// magnitude. Returns the first singular matrix.
Breakdown determinants(const SquareMatrices& a, void* det, void* sign, void* log_abs);

/// Solves a x = b for matrices `b` with `columns` columns; null means the identity. What is
/// computed from a singular matrix is not finite.
Breakdown solve(const SquareMatrices& a, std::int64_t columns, const void* b, void* x);

/// Computes the lower factors of positive-definite matrices from their lower triangles.
Breakdown cholesky(const SquareMatrices& a, void* l);

}  // namespace eg::cpu
