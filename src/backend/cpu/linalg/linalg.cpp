#include "kernels/linalg.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "backend/cpu/linalg/elimination.h"
#include "backend/cpu/linalg/matrix_batch.h"
#include "base/checked_int.h"

namespace eg::cpu {
namespace {

// The factors of matrix i of a batch.
template <class T>
struct Factors {
  Factors(const kernel::MatrixBatch& batch, const T* a, std::int64_t i)
      : lu(a + i * batch.rows * batch.columns, a + (i + 1) * batch.rows * batch.columns),
        pivots(checked_count(batch.rows)),
        bad(eliminate(batch.rows, batch.columns, lu.data(), pivots.data())) {}

  std::vector<T> lu;
  std::vector<std::int64_t> pivots;
  std::int64_t bad;
};

// Solves the system of matrix i of a batch.
template <class T>
std::int64_t solve(const kernel::Solve& call, std::int64_t i) {
  const std::int64_t n = call.batch.rows;
  const std::int64_t columns = call.columns;
  const Factors<T> factors(call.batch, call.a.as<T>(), i);
  T* const x = call.x.as<T>() + i * n * columns;
  if (call.b) {
    std::copy_n(call.b.as<T>() + i * n * columns, n * columns, x);
  } else {
    std::fill_n(x, n * n, T{0});
    for (std::int64_t k = 0; k < n; ++k) x[k * n + k] = 1;
  }
  for (std::int64_t k = 0; k < n; ++k) {
    T* const row = x + k * columns;
    const std::int64_t other = factors.pivots[static_cast<std::size_t>(k)] - 1;
    if (other != k) std::swap_ranges(row, row + columns, x + other * columns);
  }
  const gemm::Matrix<T> lu{factors.lu.data(), n, 1};
  substitute<T>({n, lu, false, true}, columns, x, columns);
  substitute<T>({n, lu, true, false}, columns, x, columns);
  return factors.bad;
}

template <class T>
std::int64_t determinant(const kernel::Determinants& call, std::int64_t i) {
  const std::int64_t n = call.batch.rows;
  const Factors<T> factors(call.batch, call.a.as<T>(), i);
  double product = 1;
  double parity = 1;
  double logarithm = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const double pivot{factors.lu[static_cast<std::size_t>(k * n + k)]};
    if (factors.pivots[static_cast<std::size_t>(k)] != k + 1) {
      product = -product;
      parity = -parity;
    }
    product *= pivot;
    logarithm += std::log(std::abs(pivot));
    parity = pivot == 0 ? 0 : pivot < 0 ? -parity : pivot > 0 ? parity : pivot;
  }
  call.det.as<T>()[i] = static_cast<T>(product);
  call.sign.as<T>()[i] = static_cast<T>(parity);
  call.log_abs.as<T>()[i] = static_cast<T>(logarithm);
  return factors.bad;
}

template <class T>
std::int64_t factorize(const kernel::Lu& call, std::int64_t i) {
  const auto [count, rows, columns] = call.batch;
  T* const lu = call.lu.as<T>() + i * rows * columns;
  std::copy_n(call.a.as<T>() + i * rows * columns, rows * columns, lu);
  const std::int64_t order = std::min(rows, columns);
  std::int64_t* const pivots = call.pivots.as<std::int64_t>() + i * order;
  const std::int64_t bad = eliminate(rows, columns, lu, pivots);
  std::vector<std::int64_t> from(checked_count(rows));
  std::iota(from.begin(), from.end(), std::int64_t{0});
  for (std::int64_t k = 0; k < order; ++k)
    std::swap(from[static_cast<std::size_t>(k)], from[static_cast<std::size_t>(pivots[k] - 1)]);
  T* const p = call.p.as<T>() + i * rows * rows;
  std::fill_n(p, rows * rows, T{0});
  for (std::int64_t k = 0; k < rows; ++k) p[from[static_cast<std::size_t>(k)] * rows + k] = 1;
  return bad;
}

template <class T>
void solve_triangle(const kernel::SolveTriangular& call, std::int64_t i) {
  const std::int64_t n = call.batch.rows;
  const std::int64_t count = n * call.columns;
  T* const x = call.x.as<T>() + i * count;
  std::copy_n(call.b.as<T>() + i * count, count, x);
  substitute<T>({n, {call.a.as<T>() + i * n * n, n, 1}, call.upper, call.unit}, call.columns, x,
                call.columns);
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void Determinants::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  visit_floating(a.dtype(), "linalg", [&]<class T>() {
    cpu::for_each_matrix(batch.count, n * n * n, breakdown,
                         [&](std::int64_t i) { return cpu::determinant<T>(*this, i); });
  });
}

void Solve::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  if (n == 0 || columns == 0) return cpu::report(breakdown);
  visit_floating(a.dtype(), "linalg", [&]<class T>() {
    cpu::for_each_matrix(batch.count, n * n * (n + columns), breakdown,
                         [&](std::int64_t i) { return cpu::solve<T>(*this, i); });
  });
}

void SolveTriangular::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  if (n == 0 || columns == 0) return;
  visit_floating(a.dtype(), "linalg", [&]<class T>() {
    cpu::for_each_matrix(batch.count, n * n * columns, {}, [&](std::int64_t i) {
      cpu::solve_triangle<T>(*this, i);
      return std::int64_t{0};
    });
  });
}

void Lu::compute_on_cpu() const {
  if (batch.rows == 0) return cpu::report(breakdown);
  const std::int64_t order = std::min(batch.rows, batch.columns);
  visit_floating(a.dtype(), "linalg", [&]<class T>() {
    cpu::for_each_matrix(batch.count, batch.rows * batch.columns * order, breakdown,
                         [&](std::int64_t i) { return cpu::factorize<T>(*this, i); });
  });
}

void Cholesky::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  if (n == 0) return cpu::report(breakdown);
  visit_floating(a.dtype(), "linalg", [&]<class T>() {
    cpu::for_each_matrix(batch.count, n * n * n, breakdown, [&](std::int64_t i) {
      return cpu::cholesky(n, a.as<T>() + i * n * n, l.as<T>() + i * n * n);
    });
  });
}

}  // namespace eg::kernel
