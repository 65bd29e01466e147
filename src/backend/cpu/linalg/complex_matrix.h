#pragma once

// Decompositions of complex matrices, in double. They are rare and the matrices small: what counts
// is that the code is, so it is plain loops and no library's templates a second time.

#include <cstdint>
#include <vector>

#include "backend/cpu/linalg/elimination.h"

namespace eg::cpu {

/// A matrix of complex numbers, column by column.
struct ComplexMatrix {
  ComplexMatrix() = default;
  ComplexMatrix(std::int64_t height, std::int64_t width);
  static ComplexMatrix identity(std::int64_t size);

  Complex* column(std::int64_t j) { return values.data() + j * rows; }
  const Complex* column(std::int64_t j) const { return values.data() + j * rows; }
  Complex& operator()(std::int64_t i, std::int64_t j) { return column(j)[i]; }
  const Complex& operator()(std::int64_t i, std::int64_t j) const { return column(j)[i]; }
  ComplexMatrix adjoint() const;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Complex> values;
};

/// The places of numbers in the order in which they rise. By insertion: there are few.
std::vector<std::int64_t> rising_order(const std::vector<double>& numbers);

/// A = Q R with a real diagonal of R, by Householder's reflections: `a` becomes R, and Q, the first
/// `q_columns` columns, is returned.
ComplexMatrix qr(ComplexMatrix& a, std::int64_t q_columns);

/// A = U diag(s) Vh for a matrix that is not wider than high: `a` becomes U, as many columns as it
/// has, and V is returned. By rotating pairs of columns until all are orthogonal.
ComplexMatrix svd(ComplexMatrix& a, std::vector<double>& s);

/// A = U T U^H with an upper triangular T: `a` becomes T, and U is returned through `u`. False
/// where the iteration does not converge.
bool schur(ComplexMatrix& a, ComplexMatrix& u);

/// The eigenvectors of T, of length 1, that `u` shows: those of U T U^H.
ComplexMatrix eigenvectors(const ComplexMatrix& t, const ComplexMatrix& u);

}  // namespace eg::cpu
