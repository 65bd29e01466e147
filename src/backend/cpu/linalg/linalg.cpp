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
  Factors(const kernel::MatrixBatch& batch, const kernel::In& a, std::int64_t i)
      : pivots(checked_count(batch.rows)) {
    const std::int64_t count = batch.rows * batch.columns;
    const MatrixToRead<T> matrix(a, i, count);
    lu.assign(matrix.data(), matrix.data() + count);
    bad = eliminate(batch.rows, batch.columns, lu.data(), pivots.data());
  }

  std::vector<T> lu;
  std::vector<std::int64_t> pivots;
  std::int64_t bad;
};

// Solves the system of matrix i of a batch.
template <class T>
std::int64_t solve(const kernel::Solve& call, std::int64_t i) {
  const std::int64_t n = call.batch.rows;
  const std::int64_t columns = call.columns;
  const Factors<T> factors(call.batch, call.a, i);
  const MatrixToWrite<T> solution(call.x, i, n * columns);
  T* const x = solution.data();
  if (call.b) {
    std::copy_n(MatrixToRead<T>(call.b, i, n * columns).data(), n * columns, x);
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

// sign(pivot) * sign, NaN for NaN.
double turned(double sign, double pivot) {
  return pivot == 0 ? 0 : pivot < 0 ? -sign : pivot > 0 ? sign : pivot;
}
Complex turned(Complex sign, Complex pivot) {
  const double size = std::abs(pivot);
  return size == 0 ? 0 : times(sign, pivot / size);
}

double multiplied(double a, double b) { return a * b; }
Complex multiplied(Complex a, Complex b) { return times(a, b); }

template <class T>
std::int64_t determinant(const kernel::Determinants& call, std::int64_t i) {
  using Wide = std::conditional_t<std::is_same_v<T, Complex>, Complex, double>;
  const std::int64_t n = call.batch.rows;
  const Factors<T> factors(call.batch, call.a, i);
  Wide product = 1;
  Wide sign = 1;
  double logarithm = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const Wide pivot{factors.lu[static_cast<std::size_t>(k * n + k)]};
    if (factors.pivots[static_cast<std::size_t>(k)] != k + 1) {
      product = -product;
      sign = -sign;
    }
    product = multiplied(product, pivot);
    logarithm += std::log(std::abs(pivot));
    sign = turned(sign, pivot);
  }
  *MatrixToWrite<T>(call.det, i, 1).data() = static_cast<T>(product);
  *MatrixToWrite<T>(call.sign, i, 1).data() = static_cast<T>(sign);
  visit_floating(call.log_abs.dtype(), "linalg",
                 [&]<class R>() { call.log_abs.as<R>()[i] = static_cast<R>(logarithm); });
  return factors.bad;
}

template <class T>
std::int64_t factorize(const kernel::Lu& call, std::int64_t i) {
  const auto [count, rows, columns] = call.batch;
  const MatrixToWrite<T> factors(call.lu, i, rows * columns);
  T* const lu = factors.data();
  std::copy_n(MatrixToRead<T>(call.a, i, rows * columns).data(), rows * columns, lu);
  const std::int64_t order = std::min(rows, columns);
  std::int64_t* const pivots = call.pivots.as<std::int64_t>() + i * order;
  const std::int64_t bad = eliminate(rows, columns, lu, pivots);
  std::vector<std::int64_t> from(checked_count(rows));
  std::iota(from.begin(), from.end(), std::int64_t{0});
  for (std::int64_t k = 0; k < order; ++k)
    std::swap(from[static_cast<std::size_t>(k)], from[static_cast<std::size_t>(pivots[k] - 1)]);
  const MatrixToWrite<T> permutation(call.p, i, rows * rows);
  T* const p = permutation.data();
  std::fill_n(p, rows * rows, T{0});
  for (std::int64_t k = 0; k < rows; ++k) p[from[static_cast<std::size_t>(k)] * rows + k] = 1;
  return bad;
}

template <class T>
void solve_triangle(const kernel::SolveTriangular& call, std::int64_t i) {
  const std::int64_t n = call.batch.rows;
  const std::int64_t count = n * call.columns;
  const MatrixToRead<T> a(call.a, i, n * n);
  const MatrixToWrite<T> x(call.x, i, count);
  std::copy_n(MatrixToRead<T>(call.b, i, count).data(), count, x.data());
  substitute<T>({n, {a.data(), n, 1}, call.upper, call.unit}, call.columns, x.data(), call.columns);
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void Determinants::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  cpu::visit_matrices(a.dtype(), [&]<class T>() {
    cpu::for_each_matrix(batch.count, n * n * n, breakdown,
                         [&](std::int64_t i) { return cpu::determinant<T>(*this, i); });
  });
}

void Solve::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  if (n == 0 || columns == 0) return cpu::report(breakdown);
  cpu::visit_matrices(a.dtype(), [&]<class T>() {
    cpu::for_each_matrix(batch.count, n * n * (n + columns), breakdown,
                         [&](std::int64_t i) { return cpu::solve<T>(*this, i); });
  });
}

void SolveTriangular::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  if (n == 0 || columns == 0) return;
  cpu::visit_matrices(a.dtype(), [&]<class T>() {
    cpu::for_each_matrix(batch.count, n * n * columns, {}, [&](std::int64_t i) {
      cpu::solve_triangle<T>(*this, i);
      return std::int64_t{0};
    });
  });
}

void Lu::compute_on_cpu() const {
  if (batch.rows == 0) return cpu::report(breakdown);
  const std::int64_t order = std::min(batch.rows, batch.columns);
  cpu::visit_matrices(a.dtype(), [&]<class T>() {
    cpu::for_each_matrix(batch.count, batch.rows * batch.columns * order, breakdown,
                         [&](std::int64_t i) { return cpu::factorize<T>(*this, i); });
  });
}

void Cholesky::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  if (n == 0) return cpu::report(breakdown);
  cpu::visit_matrices(a.dtype(), [&]<class T>() {
    cpu::for_each_matrix(batch.count, n * n * n, breakdown, [&](std::int64_t i) {
      return cpu::cholesky(n, cpu::MatrixToRead<T>(a, i, n * n).data(),
                           cpu::MatrixToWrite<T>(l, i, n * n).data());
    });
  });
}

}  // namespace eg::kernel
