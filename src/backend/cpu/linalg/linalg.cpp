#include "kernels/linalg.h"

#include <cmath>

#include "backend/cpu/linalg/eigen_batch.h"

namespace eg::cpu {
namespace {

std::int64_t first_zero_pivot(const Matrix& lu) {
  for (Eigen::Index i = 0; i < lu.rows(); ++i) {
    if (lu(i, i) == 0) return i + 1;
  }
  return 0;
}

// Eigen lets NaN pass.
bool is_positive_definite(const Eigen::LLT<Matrix>& llt) {
  return llt.info() == Eigen::Success && !llt.matrixLLT().diagonal().hasNaN();
}

// The order of the first leading minor that is not positive-definite.
std::int64_t first_bad_minor(const Matrix& a) {
  for (std::int64_t n = 1; n < a.rows(); ++n) {
    const Eigen::LLT<Matrix> llt(a.topLeftCorner(n, n));
    if (!is_positive_definite(llt)) return n;
  }
  return a.rows();
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

using cpu::load;
using cpu::Matrix;
using cpu::store;

void Determinants::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  cpu::for_each_matrix(batch.count, n * n * n, breakdown, [&](std::int64_t i) {
    double product = 1;
    double parity = 1;
    double logarithm = 0;
    std::int64_t bad = 0;
    if (n > 0) {
      const Eigen::PartialPivLU<Matrix> lu(load(batch, a, i));
      parity = static_cast<double>(lu.permutationP().determinant());
      product = parity;
      for (Eigen::Index d = 0; d < n; ++d) {
        const double pivot = lu.matrixLU()(d, d);
        product *= pivot;
        logarithm += std::log(std::abs(pivot));
        parity = pivot == 0 ? 0 : pivot < 0 ? -parity : pivot > 0 ? parity : pivot;
      }
      bad = cpu::first_zero_pivot(lu.matrixLU());
    }
    store(det, i, product);
    store(sign, i, parity);
    store(log_abs, i, logarithm);
    return bad;
  });
}

void Solve::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  if (n == 0 || columns == 0) return cpu::report(breakdown);
  cpu::for_each_matrix(batch.count, n * n * (n + columns), breakdown, [&](std::int64_t i) {
    const Eigen::PartialPivLU<Matrix> lu(load(batch, a, i));
    const Matrix right =
        b ? load({batch.count, n, columns}, b, i) : Matrix::Identity(cpu::index(n), cpu::index(n));
    store(x, i, lu.solve(right));
    return cpu::first_zero_pivot(lu.matrixLU());
  });
}

void Cholesky::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  if (n == 0) return cpu::report(breakdown);
  cpu::for_each_matrix(batch.count, n * n * n, breakdown, [&](std::int64_t i) {
    const Matrix matrix = load(batch, a, i);
    const Eigen::LLT<Matrix> llt(matrix);
    if (!cpu::is_positive_definite(llt)) return cpu::first_bad_minor(matrix);
    store(l, i, llt.matrixL());
    return std::int64_t{0};
  });
}

}  // namespace eg::kernel
