#pragma once

// Orthogonal decompositions of packed row-major batches of matrices. Where a result is not wanted
// and that saves work, it is not computed.

#include "kernels/linalg.h"

namespace eg::kernel {

/// A = Q R, with LAPACK's signs. Q is rows x `q_columns`, which is min(rows, columns) or rows, and
/// R `q_columns` x columns.
struct Qr {
  static constexpr std::string_view name = "qr";
  MatrixBatch batch;
  std::int64_t q_columns;
  In a;
  OptionalOut q;
  Out r;

  void compute_on_cpu() const;
};

/// A = U diag(S) Vh with falling S. `full` makes U and Vh square. Breaks down at matrices that are
/// not finite.
struct Svd {
  static constexpr std::string_view name = "svd";
  MatrixBatch batch;
  bool full;
  In a;
  OptionalOut u;
  Out s;
  OptionalOut vh;
  Breakdown breakdown;

  void compute_on_cpu() const;
};

/// A V = V diag(L) with rising L, of matrices that are their own adjoints, of which one triangle is
/// read. L is real. Breaks down at matrices for which the iteration does not converge.
struct Eigh {
  static constexpr std::string_view name = "eigh";
  MatrixBatch batch;
  bool upper;
  In a;
  Out l;
  OptionalOut v;
  Breakdown breakdown;

  void compute_on_cpu() const;
};

/// A V = V diag(L) of any square complex matrices, with columns of V of length 1. Breaks down at
/// matrices for which the iteration does not converge.
struct Eig {
  static constexpr std::string_view name = "eig";
  MatrixBatch batch;
  In a;
  Out l;
  Out v;
  Breakdown breakdown;

  void compute_on_cpu() const;
};

using DecompositionsKernels = TypeList<Qr, Svd, Eigh, Eig>;

}  // namespace eg::kernel
