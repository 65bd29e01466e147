#include "backend/cpu/linalg/balance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace eg::cpu {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The Euclidean norm of `count` numbers that are `step` apart.
double norm_of(const double* x, std::int64_t count, std::int64_t step) {
  double greatest = 0;
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = x[i * step];
    greatest = std::max(greatest, value);
    sum += value * value;
  }
  // Where squares underflow or overflow, the greatest number is near enough.
  return sum > 1e-280 && sum < 1e280 ? std::sqrt(sum) : greatest;
}

// A square matrix of magnitudes whose rows and columns change places together.
class Magnitudes {
 public:
  Magnitudes(std::int64_t n, std::vector<double> values) : n_(n), values_(std::move(values)) {}

  double* row(std::int64_t i) { return values_.data() + i * n_; }
  double* column(std::int64_t j) { return values_.data() + j; }

  void exchange(std::int64_t i, std::int64_t j) {
    std::swap_ranges(row(i), row(i) + n_, row(j));
    for (std::int64_t k = 0; k < n_; ++k) std::swap(row(k)[i], row(k)[j]);
  }

  /// Whether all of `x` but element i is zero in first..last - 1, where elements are `step` apart.
  static bool is_alone(const double* x, std::int64_t step, std::int64_t i, std::int64_t first,
                       std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k)
      if (k != i && x[k * step] != 0) return false;
    return true;
  }

 private:
  std::int64_t n_;
  std::vector<double> values_;
};

}  // namespace

Balance balance_of(std::int64_t n, std::vector<double> magnitudes, int most) {
  Balance result{std::vector<std::int64_t>(at(n)), std::vector<double>(at(n), 1), 0, n};
  auto& [order, scales, first, last] = result;
  std::iota(order.begin(), order.end(), std::int64_t{0});
  Magnitudes m(n, std::move(magnitudes));
  const auto move = [&](std::int64_t from, std::int64_t to) {
    std::swap(order[at(from)], order[at(to)]);
    m.exchange(from, to);
  };
  // Rows without neighbors go to the end, then columns without neighbors to the beginning.
  for (std::int64_t i = last - 1; i >= 0; --i) {
    if (!Magnitudes::is_alone(m.row(i), 1, i, 0, last)) continue;
    move(i, --last);
    i = last;
  }
  for (std::int64_t j = first; j < last; ++j) {
    if (!Magnitudes::is_alone(m.column(j), n, j, first, last)) continue;
    move(j, first++);
    j = first - 1;
  }
  constexpr int kMostSweeps = 100;
  bool changed = true;
  for (int sweep = 0; changed && sweep < kMostSweeps; ++sweep) {
    changed = false;
    for (std::int64_t i = first; i < last; ++i) {
      double* const row = m.row(i);
      double* const column = m.column(i);
      // The diagonal counts, too: where it prevails, there is nothing to gain.
      const double of_row = norm_of(row + first, last - first, 1);
      const double of_column = norm_of(column + first * n, last - first, n);
      if (of_row == 0 || of_column == 0) continue;
      const int old = std::ilogb(scales[at(i)]);
      const int ideal = (std::ilogb(of_row) - std::ilogb(of_column)) / 2;
      const double by = std::exp2(std::clamp(old + ideal, -most, most) - old);
      constexpr double kWorthwhile = 0.95;
      if (of_column * by + of_row / by >= kWorthwhile * (of_row + of_column)) continue;
      changed = true;
      scales[at(i)] *= by;
      for (std::int64_t k = 0; k < n; ++k) row[k] /= by;
      for (std::int64_t k = 0; k < n; ++k) column[k * n] *= by;
    }
  }
  return result;
}

}  // namespace eg::cpu
