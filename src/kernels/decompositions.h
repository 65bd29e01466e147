#pragma once

// Orthogonal decompositions of packed row-major batches of matrices. An optional result that is
// absent is not computed, where that saves work.

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

/// A = U diag(S) Vh, with S in descending order. `full` makes U and Vh square. Breaks down for
/// matrices that are not finite.
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

/// A V = V diag(L) for Hermitian (or real symmetric) matrices, with real L in ascending order. Only
/// one triangle of A is read. Breaks down for matrices for which the iteration does not converge.
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

/// A V = V diag(L) for general square matrices, real or complex; L and V are complex, and the
/// columns of V have length 1. Breaks down for matrices for which the iteration does not converge.
struct Eig {
  static constexpr std::string_view name = "eig";
  MatrixBatch batch;
  In a;
  Out l;
  OptionalOut v;
  Breakdown breakdown;

  void compute_on_cpu() const;
};

/// The quotients d[j] / d[i] of powers of two d, between 2^-most and 2^most, for which the rows and
/// columns of diag(d)^-1 A diag(d) have similar norms: 1 for matrices that are not finite.
struct Balance {
  static constexpr std::string_view name = "balance";
  MatrixBatch batch;
  std::int64_t most;
  In a;
  Out ratios;

  void compute_on_cpu() const;
};

using DecompositionsKernels = TypeList<Qr, Svd, Eigh, Eig, Balance>;

}  // namespace eg::kernel
