#pragma once

// What triangles are made for, solving by substitution, and what makes them: elimination and its
// symmetric form. All of them halve the matrix until a few rows are left, so that nearly all work
// is products of matrices (gemm.h). Matrices are row-major and T is float, double or Complex.

#include <complex>
#include <cstdint>

#include "backend/cpu/matrix/gemm/gemm.h"

namespace eg::cpu {

/// What complex matrices of either precision are computed in.
using Complex = std::complex<double>;

/// a * b without the special handling of infinities that the standard prescribes.
inline Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// A triangle of a matrix of n rows; the other one is not read, nor with `unit` the diagonal, which
/// is then 1.
template <class T>
struct Triangle {
  std::int64_t n;
  gemm::Matrix<T> matrix;
  bool upper;
  bool unit;
};

/// Solves a x = b for `columns` columns of x, which hold b. Zeros of the diagonal are divided by.
template <class T>
void substitute(const Triangle<T>& a, std::int64_t columns, T* x, std::int64_t row_stride);

/// Makes p l u of a packed matrix in place: u, and below its diagonal l without its ones. pivots[i]
/// is the row, counted from 1, that row i was exchanged with. Returns the order of the first pivot
/// that is zero, or 0.
template <class T>
std::int64_t eliminate(std::int64_t rows, std::int64_t columns, T* a, std::int64_t* pivots);

/// Computes the lower factor of a packed symmetric or Hermitian matrix, of which the lower triangle
/// is read, and of a complex diagonal the real part. Returns the order of the first leading minor
/// that is not positive-definite, or 0.
template <class T>
std::int64_t cholesky(std::int64_t n, const T* a, T* l);

}  // namespace eg::cpu
