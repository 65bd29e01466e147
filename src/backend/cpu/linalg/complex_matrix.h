#pragma once

// Decompositions of complex matrices, in double. They are rare and the matrices are small, so small
// code matters most: plain loops instead of a second set of template instantiations.

#include <cstdint>
#include <vector>

#include "backend/cpu/linalg/elimination.h"

namespace eg::cpu {

/// A column-major matrix of complex numbers.
struct ComplexMatrix {
  ComplexMatrix() = default;
  ComplexMatrix(std::int64_t height, std::int64_t width);
  /// The first columns of an identity matrix.
  static ComplexMatrix identity(std::int64_t height, std::int64_t width);

  Complex* column(std::int64_t j) { return values.data() + j * rows; }
  const Complex* column(std::int64_t j) const { return values.data() + j * rows; }
  Complex& operator()(std::int64_t i, std::int64_t j) { return column(j)[i]; }
  const Complex& operator()(std::int64_t i, std::int64_t j) const { return column(j)[i]; }
  ComplexMatrix adjoint() const;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Complex> values;
};

/// Returns the indices that sort the numbers in ascending order. By insertion, because there are
/// few.
std::vector<std::int64_t> rising_order(const std::vector<double>& numbers);

/// Factors A = Q R with a real diagonal of R, by Householder reflections: `a` becomes R, and the
/// first `q_columns` columns of Q are returned.
ComplexMatrix qr(ComplexMatrix& a, std::int64_t q_columns);

/// Computes A = U diag(s) V^H for a matrix with at least as many rows as columns and elements of
/// order one, by reflections from both sides to a real bidiagonal matrix. `a` is changed; `s` and
/// `v` have its number of columns, and `u` may have up to as many as it has rows. `u` and `v` may
/// both be null. Returns false when the iteration does not converge.
bool svd(ComplexMatrix& a, std::vector<double>& s, ComplexMatrix* u, ComplexMatrix* v);

/// Reduces A to H = U^H A U with a real subdiagonal and zeros below it (Hessenberg form), which is
/// tridiagonal for a Hermitian A: `a` becomes H, and U is stored in `u`.
void to_hessenberg(ComplexMatrix& a, ComplexMatrix& u);

/// Factors A = U T U^H with an upper triangular T: `a` becomes T, and U is stored in `u`. Returns
/// false if the iteration does not converge.
bool schur(ComplexMatrix& a, ComplexMatrix& u);

/// Returns the eigenvectors of U T U^H, of any length.
ComplexMatrix eigenvectors(const ComplexMatrix& t, const ComplexMatrix& u);

/// Divides columns by their length, and turns them so that their largest element is positive.
void normalize(ComplexMatrix& vectors);

}  // namespace eg::cpu
