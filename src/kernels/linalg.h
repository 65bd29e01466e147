#pragma once

// Factorisations of packed row-major batches of real or complex matrices: triangular ones here,
// orthogonal ones in decompositions.h. Results are packed row-major batches of the same dtype.

#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// A batch of rows x columns matrices.
struct MatrixBatch {
  std::int64_t count;
  std::int64_t rows;
  std::int64_t columns;
};

/// Where a factorisation encountered a pivot that is zero or not positive.
struct Breakdown {
  OptionalOut matrix;  ///< int64: index of the first such matrix; -1 when there is none
  OptionalOut order;   ///< int64: index of its pivot, counted from 1
};

/// Computes the determinant of every square matrix, its sign (0 for a singular matrix; a number of
/// magnitude 1 for complex matrices) and the logarithm of its magnitude, which is real. Breaks down
/// for singular matrices.
struct Determinants {
  static constexpr std::string_view name = "determinants";
  MatrixBatch batch;
  In a;
  Out det;
  Out sign;
  Out log_abs;
  Breakdown breakdown;

  void compute_on_cpu() const;
};

/// Solves a x = b for matrices `b` with `columns` columns; an absent `b` means the identity. Breaks
/// down for singular matrices, whose results are not finite.
struct Solve {
  static constexpr std::string_view name = "solve";
  MatrixBatch batch;
  std::int64_t columns;
  In a;
  OptionalIn b;
  Out x;
  Breakdown breakdown;

  void compute_on_cpu() const;
};

/// Solves a x = b for triangular matrices. The other triangle is not read; with `unit`, the
/// diagonal is not read either and counts as 1. Zeros on the diagonal cause divisions by zero.
struct SolveTriangular {
  static constexpr std::string_view name = "solve_triangular";
  MatrixBatch batch;
  std::int64_t columns;
  bool upper;
  bool unit;
  In a;
  In b;
  Out x;

  void compute_on_cpu() const;
};

/// a = p l u with row exchanges: `lu` holds u and, below the diagonal, l without its unit diagonal.
/// Breaks down for singular matrices, which are nevertheless factorised.
struct Lu {
  static constexpr std::string_view name = "lu";
  MatrixBatch batch;
  In a;
  Out lu;
  Out p;       ///< rows x rows
  Out pivots;  ///< int64: the row that each row was exchanged with, counted from 1
  Breakdown breakdown;

  void compute_on_cpu() const;
};

/// Computes the lower Cholesky factors of positive-definite symmetric or Hermitian matrices,
/// reading only their lower triangles. Breaks down for other matrices; the order is that of the
/// first leading minor that is not positive-definite.
struct Cholesky {
  static constexpr std::string_view name = "cholesky";
  MatrixBatch batch;
  In a;
  Out l;
  Breakdown breakdown;

  void compute_on_cpu() const;
};

using LinalgKernels = TypeList<Determinants, Solve, SolveTriangular, Lu, Cholesky>;

}  // namespace eg::kernel
