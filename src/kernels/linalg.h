#pragma once

// Factorisations of packed row-major batches of real or complex matrices: triangular factors here,
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

/// Where a factorisation came upon a zero, or not positive, pivot.
struct Breakdown {
  OptionalOut matrix;  ///< int64: the first in the batch; -1 when there is none
  OptionalOut order;   ///< int64: of the pivot, counted from 1
};

/// The determinant of every square matrix, its sign (0 when singular; of complex numbers, one of
/// magnitude 1) and the real logarithm of its magnitude. Breaks down at singular matrices.
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

/// Solves a x = b for matrices `b` with `columns` columns; no `b` means the identity. Breaks down
/// at singular matrices; what is computed from them is not finite.
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

/// Solves a x = b for triangular matrices, of which the other triangle is not read, nor with `unit`
/// the diagonal, which is then 1. Zeros of the diagonal are divided by.
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

/// a = p l u with row exchanges: `lu` holds u and, below its diagonal, l without its ones. Breaks
/// down at singular matrices, which are factorised all the same.
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

/// The lower factors of positive-definite symmetric or Hermitian matrices, from their lower
/// triangles. Breaks down at
/// other matrices, by the order of the first leading minor that is not positive-definite.
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
