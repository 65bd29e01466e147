#include "backend/cpu/linalg.h"

#define EIGEN_NO_IO
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_MPL2_ONLY
#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/LU>

#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using Matrix = Eigen::MatrixXd;
template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix load(DType dtype, const void* data, std::int64_t index, std::int64_t rows,
            std::int64_t columns) {
  return visit_floating(dtype, "linalg", [&]<class T>() -> Matrix {
    const T* first = static_cast<const T*>(data) + index * rows * columns;
    return Eigen::Map<const RowMajor<T>>(first, rows, columns).template cast<double>();
  });
}

void store(DType dtype, void* data, std::int64_t index, const Matrix& value) {
  visit_floating(dtype, "linalg", [&]<class T>() {
    T* first = static_cast<T*>(data) + index * value.size();
    Eigen::Map<RowMajor<T>>(first, value.rows(), value.cols()) = value.template cast<T>();
  });
}

void store(DType dtype, void* data, std::int64_t index, double value) {
  visit_floating(dtype, "linalg",
                 [&]<class T>() { static_cast<T*>(data)[index] = static_cast<T>(value); });
}

// Runs `factorize`, which returns the order of a bad pivot or 0, on every matrix.
template <class Factorize>
Breakdown for_each_matrix(const SquareMatrices& a, std::int64_t work, Factorize&& factorize) {
  std::vector<std::int64_t> bad(static_cast<std::size_t>(a.count));
  const std::int64_t grain = kMinElementsPerTask / std::max<std::int64_t>(1, work) + 1;
  parallel_for(0, a.count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      bad[static_cast<std::size_t>(i)] = factorize(i, load(a.dtype, a.data, i, a.n, a.n));
  });
  const auto first = std::find_if(bad.begin(), bad.end(), [](std::int64_t o) { return o != 0; });
  return first == bad.end() ? Breakdown{} : Breakdown{first - bad.begin(), *first};
}

std::int64_t first_zero_pivot(const Matrix& lu) {
  for (std::int64_t i = 0; i < lu.rows(); ++i) {
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

Breakdown determinants(const SquareMatrices& a, void* det, void* sign, void* log_abs) {
  return for_each_matrix(a, a.n * a.n * a.n, [&](std::int64_t i, const Matrix& matrix) {
    double product = 1;
    double parity = 1;
    double logarithm = 0;
    std::int64_t bad = 0;
    if (a.n > 0) {
      const Eigen::PartialPivLU<Matrix> lu(matrix);
      parity = static_cast<double>(lu.permutationP().determinant());
      product = parity;
      for (std::int64_t d = 0; d < a.n; ++d) {
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

Breakdown solve(const SquareMatrices& a, std::int64_t columns, const void* b, void* x) {
  if (a.n == 0 || columns == 0) return {};
  return for_each_matrix(a, a.n * a.n * (a.n + columns), [&](std::int64_t i, const Matrix& matrix) {
    const Eigen::PartialPivLU<Matrix> lu(matrix);
    const Matrix right =
        b == nullptr ? Matrix(Matrix::Identity(a.n, a.n)) : load(a.dtype, b, i, a.n, columns);
    store(a.dtype, x, i, lu.solve(right));
    return first_zero_pivot(lu.matrixLU());
  });
}

Breakdown cholesky(const SquareMatrices& a, void* l) {
  if (a.n == 0) return {};
  return for_each_matrix(a, a.n * a.n * a.n, [&](std::int64_t i, const Matrix& matrix) {
    const Eigen::LLT<Matrix> llt(matrix);
    store(a.dtype, l, i, llt.matrixL());
    return is_positive_definite(llt) ? 0 : first_bad_minor(matrix);
  });
}

}  // namespace eg::cpu
