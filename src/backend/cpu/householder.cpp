#include "backend/cpu/householder.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace eg::cpu {

double dot(const double* a, const double* b, std::int64_t n) {
  // Four sums, because no compiler may reorder one.
  std::array<double, 4> sums{};
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
  }
  double sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void add_multiple(double* y, double factor, const double* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

void rotate(double* x, double* y, double c, double s, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const double xi = x[i];
    x[i] = c * xi + s * y[i];
    y[i] = c * y[i] - s * xi;
  }
}

double make_reflection(double* x, std::int64_t n) {
  const double tail = std::sqrt(dot(x + 1, x + 1, n - 1));
  if (tail == 0) return 0;
  const double b = -std::copysign(std::hypot(x[0], tail), x[0]);
  const double tau = (b - x[0]) / b;
  const double scale = 1 / (x[0] - b);
  for (std::int64_t i = 1; i < n; ++i) x[i] *= scale;
  x[0] = b;
  return tau;
}

void reflect(const double* v, double tau, double* y, std::int64_t n) {
  const double along = tau * (y[0] + dot(v + 1, y + 1, n - 1));
  y[0] -= along;
  add_multiple(y + 1, -along, v + 1, n - 1);
}

HouseholderQR::HouseholderQR(ColumnMatrix a) : a_(std::move(a)) {
  const std::int64_t m = a_.rows();
  for (std::int64_t k = 0; k < std::min(m, a_.columns()); ++k) {
    taus_.push_back(make_reflection(a_.column(k) + k, m - k));
    for (std::int64_t j = k + 1; j < a_.columns(); ++j)
      reflect(a_.column(k) + k, taus_.back(), a_.column(j) + k, m - k);
  }
}

ColumnMatrix HouseholderQR::r(std::int64_t rows) const {
  ColumnMatrix result(rows, a_.columns());
  for (std::int64_t j = 0; j < a_.columns(); ++j)
    std::copy_n(a_.column(j), std::min(j + 1, rows), result.column(j));
  return result;
}

ColumnMatrix HouseholderQR::times(ColumnMatrix b) const {
  for (auto k = static_cast<std::int64_t>(taus_.size()) - 1; k >= 0; --k) {
    for (std::int64_t j = 0; j < b.columns(); ++j)
      reflect(a_.column(k) + k, taus_[static_cast<std::size_t>(k)], b.column(j) + k, b.rows() - k);
  }
  return b;
}

}  // namespace eg::cpu
