#pragma once

// Solving triangular systems by substitution, and the factorisations that produce triangles:
// Gaussian elimination and Cholesky. Each halves the matrix recursively until a few rows are left,
// so nearly all work is matrix products (gemm.h). Matrices are row-major and T is float, double or
// Complex.

#include <complex>
#include <cstdint>

#include "backend/cpu/matrix/gemm/gemm.h"

namespace eg::cpu {

/// Complex matrices of both precisions are computed in double precision.
using Complex = std::complex<double>;

/// a * b without the special handling of infinities that the standard prescribes.
inline Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// One triangle of an n x n matrix. The other triangle is not read; with `unit` the diagonal is not
/// read either and counts as 1.
template <class T>
struct Triangle {
  std::int64_t n;
  gemm::Matrix<T> matrix;
  bool upper;
  bool unit;
};

/// Solves a x = b for `columns` columns; on entry x holds b. A zero on the diagonal is divided by,
/// without a check.
template <class T>
void substitute(const Triangle<T>& a, std::int64_t columns, T* x, std::int64_t row_stride);

/// Computes the factorisation p l u of a packed matrix in place: u, and below its diagonal l
/// without its diagonal of ones. pivots[i] is the row, counted from 1, that row i was swapped with.
/// Returns the 1-based index of the first pivot that is zero, or 0.
template <class T>
std::int64_t eliminate(std::int64_t rows, std::int64_t columns, T* a, std::int64_t* pivots);

/// Computes the lower Cholesky factor of a packed symmetric or Hermitian matrix, of which only the
/// lower triangle is read, and of a complex diagonal only the real part. Returns the order of the
/// first leading minor that is not positive definite, or 0.
template <class T>
std::int64_t cholesky(std::int64_t n, const T* a, T* l);

}  // namespace eg::cpu
