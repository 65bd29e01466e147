#include "backend/cpu/linalg/linalg.h"

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

Breakdown determinants(const MatrixBatch& a, void* det, void* sign, void* log_abs) {
  const std::int64_t n = a.rows;
  return for_each_matrix(a.count, n * n * n, [&](std::int64_t i) {
    double product = 1;
    double parity = 1;
    double logarithm = 0;
    std::int64_t bad = 0;
    if (n > 0) {
      const Eigen::PartialPivLU<Matrix> lu(load(a, i));
      parity = static_cast<double>(lu.permutationP().determinant());
      product = parity;
      for (Eigen::Index d = 0; d < n; ++d) {
        const double pivot = lu.matrixLU()(d, d);
        product *= pivot;
        logarithm += std::log(std::abs(pivot));
        parity = pivot == 0 ? 0 : pivot < 0 ? -parity : pivot > 0 ? parity : pivot;
      }
      bad = first_zero_pivot(lu.matrixLU());
    }
    store(a.dtype, det, i, product);
    store(a.dtype, sign, i, parity);
    store(a.dtype, log_abs, i, logarithm);
    return bad;
  });
}

Breakdown solve(const MatrixBatch& a, std::int64_t columns, const void* b, void* x) {
  const std::int64_t n = a.rows;
  if (n == 0 || columns == 0) return {};
  return for_each_matrix(a.count, n * n * (n + columns), [&](std::int64_t i) {
    const Eigen::PartialPivLU<Matrix> lu(load(a, i));
    const Matrix right = b == nullptr ? Matrix::Identity(index(n), index(n))
                                      : load({a.dtype, a.count, n, columns, b}, i);
    store(a.dtype, x, i, lu.solve(right));
    return first_zero_pivot(lu.matrixLU());
  });
}

Breakdown cholesky(const MatrixBatch& a, void* l) {
  const std::int64_t n = a.rows;
  if (n == 0) return {};
  return for_each_matrix(a.count, n * n * n, [&](std::int64_t i) {
    const Matrix matrix = load(a, i);
    const Eigen::LLT<Matrix> llt(matrix);
    if (!is_positive_definite(llt)) return first_bad_minor(matrix);
    store(a.dtype, l, i, llt.matrixL());
    return std::int64_t{0};
  });
}

}  // namespace eg::cpu
