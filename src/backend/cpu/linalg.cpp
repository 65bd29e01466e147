#include "backend/cpu/linalg.h"

#include <cmath>

#include "backend/cpu/column_matrix.h"
#include "backend/cpu/triangular.h"

namespace eg::cpu {

Breakdown determinants(const MatrixBatch& a, void* det, void* sign, void* log_abs) {
  const std::int64_t n = a.rows;
  return for_each_matrix(a.count, n * n * n, [&](std::int64_t i) {
    const Lu lu(load(a, i));
    double product = lu.parity;
    double parity = lu.parity;
    double logarithm = 0;
    for (std::int64_t d = 0; d < n; ++d) {
      const double pivot = lu.factors(d, d);
      product *= pivot;
      logarithm += std::log(std::abs(pivot));
      parity = pivot == 0 ? 0 : pivot < 0 ? -parity : pivot > 0 ? parity : pivot;
    }
    store(a.dtype, det, i, product);
    store(a.dtype, sign, i, parity);
    store(a.dtype, log_abs, i, logarithm);
    return lu.first_zero_pivot();
  });
}

Breakdown solve(const MatrixBatch& a, std::int64_t columns, const void* b, void* x) {
  const std::int64_t n = a.rows;
  if (n == 0 || columns == 0) return {};
  return for_each_matrix(a.count, n * n * (n + columns), [&](std::int64_t i) {
    const Lu lu(load(a, i));
    ColumnMatrix right =
        b == nullptr ? ColumnMatrix::identity(n, n) : load({a.dtype, a.count, n, columns, b}, i);
    lu.solve(right);
    store(a.dtype, x, i, right);
    return lu.first_zero_pivot();
  });
}

Breakdown cholesky(const MatrixBatch& a, void* l) {
  const std::int64_t n = a.rows;
  return for_each_matrix(a.count, n * n * n, [&](std::int64_t i) {
    ColumnMatrix matrix = load(a, i);
    const std::int64_t bad_minor = factorize_cholesky(matrix);
    if (bad_minor == 0) store(a.dtype, l, i, matrix);
    return bad_minor;
  });
}

}  // namespace eg::cpu
