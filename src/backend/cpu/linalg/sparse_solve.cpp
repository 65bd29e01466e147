// compile: kernels

// Systems of equations with a sparse matrix, by Eigen. Complex numbers are solved as their parts:
// (A + iB)(x + iy) = u + iv is
//
//   | A  -B | | x |   | u |
//   | B   A | | y | = | v |
//
// which takes no code besides that of real numbers, and is symmetric and positive if A + iB is
// Hermitian and positive.

#include <algorithm>
#include <span>
#include <vector>

#include "backend/cpu/linalg/sparse_eigen.h"
#include "backend/cpu/matrix/sparse_matrix.h"

namespace eg::cpu {
namespace {

using Matrix = Eigen::SparseMatrix<double>;
using Right = Eigen::MatrixXd;

template <class T>
inline constexpr bool kIsComplex = !std::is_floating_point_v<T>;

std::span<const double> values_of(const Matrix& m) {
  return {m.valuePtr(), static_cast<std::size_t>(m.nonZeros())};
}

std::span<const int> indices_of(const Matrix& m) {
  return {m.innerIndexPtr(), static_cast<std::size_t>(m.nonZeros())};
}

template <class T>
Matrix matrix_of(const Csr& a, const T* values, bool adjoint) {
  constexpr int kParts = kIsComplex<T> ? 2 : 1;
  const auto n = static_cast<int>(a.rows);
  std::vector<Eigen::Triplet<double>> elements;
  elements.reserve(static_cast<std::size_t>(a.starts[a.rows]) * kParts * kParts);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    for (std::int64_t k = a.starts[r]; k < a.starts[r + 1]; ++k) {
      const auto row = static_cast<int>(adjoint ? a.column[k] : r);
      const auto column = static_cast<int>(adjoint ? r : a.column[k]);
      if constexpr (kIsComplex<T>) {
        const auto real = static_cast<double>(values[k].real());
        const auto imag = static_cast<double>(adjoint ? -values[k].imag() : values[k].imag());
        elements.emplace_back(row, column, real);
        elements.emplace_back(row + n, column + n, real);
        elements.emplace_back(row + n, column, imag);
        elements.emplace_back(row, column + n, -imag);
      } else {
        elements.emplace_back(row, column, static_cast<double>(values[k]));
      }
    }
  }
  Matrix matrix(kParts * n, kParts * n);
  matrix.setFromTriplets(elements.begin(), elements.end());
  return matrix;
}

template <class T>
Right right_of(const T* values, Eigen::Index rows, Eigen::Index width) {
  Right right((kIsComplex<T> ? 2 : 1) * rows, width);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < width; ++j) {
      const T value = values[i * width + j];
      if constexpr (kIsComplex<T>) {
        right(i, j) = value.real();
        right(rows + i, j) = value.imag();
      } else {
        right(i, j) = value;
      }
    }
  }
  return right;
}

template <class T>
void write(const Right& solution, T* out, Eigen::Index rows, Eigen::Index width) {
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < width; ++j) {
      if constexpr (kIsComplex<T>) {
        using Real = typename T::value_type;
        out[i * width + j] =
            T(static_cast<Real>(solution(i, j)), static_cast<Real>(solution(rows + i, j)));
      } else {
        out[i * width + j] = static_cast<T>(solution(i, j));
      }
    }
  }
}

// Elimination without pivots, which is exact to rounding only where the matrix is positive.
bool solve_positive(const Matrix& matrix, const Right& right, Right& solution) {
  const Matrix transposed = matrix.transpose();
  const bool is_symmetric = std::ranges::equal(indices_of(matrix), indices_of(transposed)) &&
                            std::ranges::equal(values_of(matrix), values_of(transposed));
  if (!is_symmetric || !(matrix.diagonal().array() > 0).all()) return false;
  const Eigen::SimplicialLDLT<Matrix> factors(matrix);
  if (factors.info() != Eigen::Success || !(factors.vectorD().array() > 0).all()) return false;
  solution = factors.solve(right);
  return true;
}

// False if the matrix is singular.
bool solve_any(const Matrix& matrix, const Right& right, Right& solution) {
  Eigen::SparseLU<Matrix> factors(matrix);
  if (factors.info() != Eigen::Success) return false;
  solution = factors.solve(right);
  return true;
}

template <class T>
bool solve(const kernel::SparseSolve& call) {
  const Csr a(call.pattern);
  const auto rows = static_cast<Eigen::Index>(a.rows);
  const auto width = static_cast<Eigen::Index>(call.width);
  const Matrix matrix = matrix_of(a, call.values.as<T>(), call.adjoint);
  const Right right = right_of(call.right.as<T>(), rows, width);
  Right solution;
  if (!solve_positive(matrix, right, solution) && !solve_any(matrix, right, solution)) return false;
  write(solution, call.solution.as<T>(), rows, width);
  return true;
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void SparseSolve::compute_on_cpu() const {
  bool is_solved = true;
  if (pattern.rows > 0)
    cpu::visit_fractional(values.dtype(), [&]<class T>() { is_solved = cpu::solve<T>(*this); });
  *is_singular.as<std::int64_t>() = is_solved ? 0 : 1;
}

}  // namespace eg::kernel
