#pragma once

// LU and Cholesky factorisations. They are blocked: a panel of columns is factored column by
// column, and what stands right of it takes one matrix product, where nearly all the time goes.

#include <cstdint>
#include <vector>

#include "backend/cpu/column_matrix.h"

namespace eg::cpu {

/// A = P L U, with L below the diagonal of `factors`, without its ones, and U in the rest.
struct Lu {
  ColumnMatrix factors;
  std::vector<std::int64_t> swaps;  ///< row k changed places with row swaps[k], in this order
  double parity = 1;                ///< the determinant of P

  /// Factorises a square matrix.
  explicit Lu(ColumnMatrix a);

  /// The order of the first pivot that is zero, or 0.
  std::int64_t first_zero_pivot() const;
  /// Replaces `b` by the x of A x = b.
  void solve(ColumnMatrix& b) const;
};

/// Replaces `a`, of which the lower triangle is read, by its Cholesky factor. Returns the order of
/// the first leading minor that is not positive-definite, or 0.
std::int64_t factorize_cholesky(ColumnMatrix& a);

}  // namespace eg::cpu
