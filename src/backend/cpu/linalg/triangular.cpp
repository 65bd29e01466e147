// What triangles are made for: solving by substitution, and elimination, which makes them.

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/cpu/linalg/eigen_batch.h"

namespace eg::cpu {
namespace {

void substitute(const kernel::SolveTriangular& call, const Matrix& a, Matrix& x) {
  const Eigen::Index n = a.rows();
  for (Eigen::Index step = 0; step < n; ++step) {
    const Eigen::Index i = call.upper ? n - 1 - step : step;
    const Eigen::Index first = call.upper ? i + 1 : 0;
    const Eigen::Index last = call.upper ? n : i;
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      double value = x(i, c);
      for (Eigen::Index j = first; j < last; ++j) value -= a(i, j) * x(j, c);
      x(i, c) = call.unit ? value : value / a(i, i);
    }
  }
}

// Eliminates in place; `rows` are exchanged with those of `a`. Returns the order of the first pivot
// that is zero, or 0.
std::int64_t eliminate(Matrix& a, std::vector<Eigen::Index>& rows, std::int64_t* pivots) {
  std::int64_t bad = 0;
  const Eigen::Index count = std::min(a.rows(), a.cols());
  for (Eigen::Index k = 0; k < count; ++k) {
    Eigen::Index best = k;
    // A NaN is what becomes of all the rest.
    for (Eigen::Index i = k + 1; i < a.rows(); ++i)
      if (std::abs(a(i, k)) > std::abs(a(best, k)) || std::isnan(a(i, k))) best = i;
    pivots[k] = best + 1;
    std::swap(rows[static_cast<std::size_t>(k)], rows[static_cast<std::size_t>(best)]);
    for (Eigen::Index j = 0; j < a.cols(); ++j) std::swap(a(k, j), a(best, j));
    if (a(k, k) == 0) {
      if (bad == 0) bad = k + 1;
      continue;
    }
    for (Eigen::Index i = k + 1; i < a.rows(); ++i) {
      const double factor = a(i, k) /= a(k, k);
      for (Eigen::Index j = k + 1; j < a.cols(); ++j) a(i, j) -= factor * a(k, j);
    }
  }
  return bad;
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

using cpu::Matrix;

void SolveTriangular::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  if (n == 0 || columns == 0) return;
  cpu::for_each_matrix(batch.count, n * n * columns, {}, [&](std::int64_t i) {
    Matrix solution = cpu::load({batch.count, n, columns}, b, i);
    cpu::substitute(*this, cpu::load(batch, a, i), solution);
    cpu::store(x, i, solution);
    return std::int64_t{0};
  });
}

void Lu::compute_on_cpu() const {
  const std::int64_t count = std::min(batch.rows, batch.columns);
  cpu::for_each_matrix(batch.count, batch.rows * batch.columns * count, breakdown,
                       [&](std::int64_t i) {
                         Matrix matrix = cpu::load(batch, a, i);
                         std::vector<Eigen::Index> rows(static_cast<std::size_t>(batch.rows));
                         for (std::size_t row = 0; row < rows.size(); ++row)
                           rows[row] = cpu::index(static_cast<std::int64_t>(row));
                         const std::int64_t bad =
                             cpu::eliminate(matrix, rows, pivots.as<std::int64_t>() + i * count);
                         cpu::store(lu, i, matrix);
                         Matrix permutation = Matrix::Zero(matrix.rows(), matrix.rows());
                         for (std::size_t row = 0; row < rows.size(); ++row)
                           permutation(rows[row], cpu::index(static_cast<std::int64_t>(row))) = 1;
                         cpu::store(p, i, permutation);
                         return bad;
                       });
}

}  // namespace eg::kernel
