// compile: kernels

#include "backend/cpu/linalg/real_eigen.h"

#include <algorithm>

#include "backend/cpu/linalg/eigen.h"

namespace eg::cpu {

bool real_eigen(std::int64_t n, const double* a, Complex* l, ComplexMatrix* v) {
  using Matrix = Eigen::MatrixXd;
  const auto size = static_cast<Eigen::Index>(n);
  const Eigen::EigenSolver<Matrix> solver(Eigen::Map<const Matrix>(a, size, size), v != nullptr);
  if (solver.info() != Eigen::Success) return false;
  std::copy_n(solver.eigenvalues().data(), n, l);
  if (v == nullptr) return true;
  // Eigen's own complex vectors take nearly equal eigenvalues of a pair for real ones.
  const double* const columns = solver.pseudoEigenvectors().data();
  for (std::int64_t j = 0; j < n; ++j) {
    const double* const real = columns + j * n;
    const bool is_pair = l[j].imag() != 0;
    for (std::int64_t i = 0; i < n; ++i) {
      (*v)(i, j) = Complex(real[i], is_pair ? real[n + i] : 0);
      if (is_pair) (*v)(i, j + 1) = std::conj((*v)(i, j));
    }
    if (is_pair) ++j;
  }
  return true;
}

}  // namespace eg::cpu
