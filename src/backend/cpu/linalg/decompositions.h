#pragma once

// Orthogonal decompositions of packed row-major batches of matrices. Results are packed row-major
// batches in the dtype of `a`; a null result is not wanted, and where that saves work it is not
// computed. By Eigen: QR by Householder's reflections, with LAPACK's signs, singular values by
// Jacobi's rotations, eigenvalues by implicit QR steps on a tridiagonal matrix.

#include "backend/cpu/linalg/linalg.h"

namespace eg::cpu {

/// A = Q R. Q is rows x `q_columns`, which is min(rows, columns) or rows, and R `q_columns` x
/// columns.
void qr(const MatrixBatch& a, std::int64_t q_columns, void* q, void* r);

/// A = U diag(S) Vh with falling S. `full` makes U and Vh square. Returns the first matrix that is
/// not finite.
Breakdown svd(const MatrixBatch& a, bool full, void* u, void* s, void* vh);

/// A V = V diag(L) with rising L, of symmetric matrices of which one triangle is read. Returns the
/// first matrix for which the iteration does not converge.
Breakdown eigh(const MatrixBatch& a, bool upper, void* l, void* v);

}  // namespace eg::cpu
