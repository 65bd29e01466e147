#include "backend/cpu/triangular.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backend/cpu/gemm/gemm.h"

namespace eg::cpu {
namespace {

constexpr std::int64_t kPanel = 32;

// Column `to` -= factor * column `from`, in rows [first, last).
void subtract_multiple(double factor, const double* from, std::int64_t first, std::int64_t last,
                       double* to) {
  for (std::int64_t i = first; i < last; ++i) to[i] -= factor * from[i];
}

// From the square that starts at (last, last), which is symmetric or seen as its transpose,
// subtracts right^T times the columns [first, last) left of it.
void subtract_product(ColumnMatrix& a, std::int64_t first, std::int64_t last,
                      const gemm::Matrix<double>& right_transposed) {
  const std::int64_t n = a.rows();
  gemm::gemm<double>(n - last, n - last, last - first, -1, right_transposed,
                     {a.column(first) + last, n, 1}, 1, a.column(last) + last, n);
}

}  // namespace

Lu::Lu(ColumnMatrix a) : factors(std::move(a)) {
  const std::int64_t n = factors.rows();
  for (std::int64_t first = 0; first < n; first += kPanel) {
    const std::int64_t last = std::min(first + kPanel, n);
    for (std::int64_t k = first; k < last; ++k) {
      double* const column = factors.column(k);
      std::int64_t largest = k;
      for (std::int64_t i = k + 1; i < n; ++i) {
        if (std::abs(column[i]) > std::abs(column[largest])) largest = i;
      }
      swaps.push_back(largest);
      if (largest != k) {
        for (std::int64_t j = 0; j < n; ++j) std::swap(factors(k, j), factors(largest, j));
        parity = -parity;
      }
      const double pivot = column[k];
      if (pivot == 0) continue;
      for (std::int64_t i = k + 1; i < n; ++i) column[i] /= pivot;
      for (std::int64_t j = k + 1; j < last; ++j)
        subtract_multiple(factors(k, j), column, k + 1, n, factors.column(j));
    }
    if (last == n) break;
    for (std::int64_t j = last; j < n; ++j) {
      for (std::int64_t k = first; k < last; ++k)
        subtract_multiple(factors(k, j), factors.column(k), k + 1, last, factors.column(j));
    }
    subtract_product(factors, first, last, {factors.column(last) + first, n, 1});
  }
}

std::int64_t Lu::first_zero_pivot() const {
  for (std::int64_t i = 0; i < factors.rows(); ++i) {
    if (factors(i, i) == 0) return i + 1;
  }
  return 0;
}

void Lu::solve(ColumnMatrix& b) const {
  const std::int64_t n = factors.rows();
  for (std::int64_t j = 0; j < b.columns(); ++j) {
    double* const x = b.column(j);
    for (std::int64_t k = 0; k < n; ++k) std::swap(x[k], x[swaps[static_cast<std::size_t>(k)]]);
    for (std::int64_t k = 0; k < n; ++k) subtract_multiple(x[k], factors.column(k), k + 1, n, x);
    for (std::int64_t k = n - 1; k >= 0; --k) {
      x[k] /= factors(k, k);
      subtract_multiple(x[k], factors.column(k), 0, k, x);
    }
  }
}

std::int64_t factorize_cholesky(ColumnMatrix& a) {
  const std::int64_t n = a.rows();
  for (std::int64_t first = 0; first < n; first += kPanel) {
    const std::int64_t last = std::min(first + kPanel, n);
    for (std::int64_t k = first; k < last; ++k) {
      double* const column = a.column(k);
      // NaN is not positive either.
      if (!(column[k] > 0)) return k + 1;
      column[k] = std::sqrt(column[k]);
      for (std::int64_t i = k + 1; i < n; ++i) column[i] /= column[k];
      for (std::int64_t j = k + 1; j < last; ++j)
        subtract_multiple(column[j], column, j, n, a.column(j));
    }
    // The upper triangle changes too, and is not read.
    if (last < n) subtract_product(a, first, last, {a.column(first) + last, 1, n});
  }
  for (std::int64_t j = 1; j < n; ++j) std::fill_n(a.column(j), j, 0.0);
  return 0;
}

}  // namespace eg::cpu
