// The orthogonal decompositions of real matrices, and all decompositions of complex ones. The
// algorithms are in householder.h, square_svd.h, symmetric_eigen.h and complex_matrix.h.

#include "kernels/decompositions.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "backend/cpu/linalg/balance.h"
#include "backend/cpu/linalg/complex_matrix.h"
#include "backend/cpu/linalg/householder.h"
#include "backend/cpu/linalg/matrix_batch.h"
#include "backend/cpu/linalg/real_eigen.h"
#include "backend/cpu/linalg/square_svd.h"
#include "backend/cpu/linalg/symmetric_eigen.h"
#include "base/checked_int.h"

namespace eg::cpu {
namespace {

// Returns the power of two to divide a matrix by, so that squares neither overflow nor underflow.
double power_of_two_at(double greatest) {
  constexpr int kLeast = -1000;  // has an inverse
  return greatest > 0 && std::isfinite(greatest) ? std::exp2(std::max(std::ilogb(greatest), kLeast))
                                                 : 1;
}

// Calls visit(row, column, number) for the elements of matrix i of a batch, row by row.
template <class Visit>
void visit_numbers(const kernel::MatrixBatch& batch, const kernel::In& a, std::int64_t i,
                   Visit&& visit) {
  const int parts = is_complex(a.dtype()) ? 2 : 1;
  visit_floating(real_dtype(a.dtype()), "linalg", [&]<class T>() {
    const T* from = a.as<T>() + i * batch.rows * batch.columns * parts;
    for (std::int64_t row = 0; row < batch.rows; ++row)
      for (std::int64_t column = 0; column < batch.columns; ++column, from += parts)
        visit(row, column, Complex(from[0], parts == 2 ? from[1] : 0));
  });
}

ComplexMatrix load_numbers(const kernel::MatrixBatch& batch, const kernel::In& a, std::int64_t i) {
  ComplexMatrix loaded(batch.rows, batch.columns);
  visit_numbers(batch, a, i, [&](std::int64_t row, std::int64_t column, Complex value) {
    loaded(row, column) = value;
  });
  return loaded;
}

// A matrix of a batch, scaled by a power of two so that its largest element is of order one.
struct ScaledMatrix {
  ComplexMatrix matrix;
  double scale = 1;
  bool is_finite = true;
};

ScaledMatrix load_complex(const kernel::MatrixBatch& batch, const kernel::In& a, std::int64_t i) {
  ScaledMatrix loaded{load_numbers(batch, a, i)};
  double greatest = 0;
  for (const Complex value : loaded.matrix.values) {
    for (const double part : {value.real(), value.imag()}) {
      greatest = std::max(greatest, std::abs(part));
      loaded.is_finite = loaded.is_finite && std::isfinite(part);
    }
  }
  loaded.scale = power_of_two_at(greatest);
  for (Complex& value : loaded.matrix.values) value /= loaded.scale;
  return loaded;
}

// Returns for each column the power of two to divide it by, so that its largest element is of order
// one: the columns of Q R keep their digits then, however small they are beside others.
template <class At>
std::vector<double> scales_of_columns(std::int64_t rows, std::int64_t columns, At&& at) {
  std::vector<double> scales(checked_count(columns));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column) {
      double& greatest = scales[static_cast<std::size_t>(column)];
      greatest = std::max(greatest, double{std::abs(at(row, column))});
    }
  for (double& scale : scales) scale = power_of_two_at(scale);
  return scales;
}

// Writes the first rows of a matrix, if the output was requested.
void store_complex(const kernel::OptionalOut& to, std::int64_t i, const ComplexMatrix& matrix,
                   std::int64_t rows, double scale = 1) {
  if (!to) return;
  visit_floating(real_dtype(to.dtype()), "linalg", [&]<class T>() {
    auto* into = to.as<std::complex<T>>() + i * rows * matrix.columns;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < matrix.columns; ++column)
        *into++ = std::complex<T>(matrix(row, column) * scale);
  });
}
void store_complex(const kernel::OptionalOut& to, std::int64_t i, const ComplexMatrix& matrix) {
  store_complex(to, i, matrix, matrix.rows);
}

// Writes a contiguous sequence of real numbers.
void store_numbers(const kernel::Out& to, std::int64_t i, const std::vector<double>& numbers,
                   double scale) {
  visit_floating(to.dtype(), "linalg", [&]<class T>() {
    T* into = to.as<T>() + i * std::ssize(numbers);
    for (const double number : numbers) *into++ = static_cast<T>(number * scale);
  });
}

std::int64_t complex_qr(const kernel::Qr& call, std::int64_t i) {
  ComplexMatrix r = load_numbers(call.batch, call.a, i);
  const std::vector<double> scales = scales_of_columns(r.rows, r.columns, std::as_const(r));
  const auto scale_columns = [&](auto&& scaled) {
    for (std::int64_t column = 0; column < r.columns; ++column)
      for (std::int64_t row = 0; row < r.rows; ++row)
        r(row, column) = scaled(r(row, column), scales[static_cast<std::size_t>(column)]);
  };
  scale_columns([](Complex value, double scale) { return value / scale; });
  const ComplexMatrix q = qr(r, call.q_columns);
  scale_columns([](Complex value, double scale) { return value * scale; });
  store_complex(call.q, i, q);
  store_complex(call.r, i, r, call.q_columns);
  return 0;
}

std::int64_t complex_svd(const kernel::Svd& call, std::int64_t i) {
  auto [a, scale, is_finite] = load_complex(call.batch, call.a, i);
  if (!is_finite) return 1;
  const bool is_wide = a.rows < a.columns;
  if (is_wide) a = a.adjoint();
  const bool wants_vectors = call.u || call.vh;
  std::vector<double> s(checked_count(a.columns));
  ComplexMatrix left(wants_vectors ? a.rows : 0, call.full ? a.rows : a.columns);
  ComplexMatrix right(wants_vectors ? a.columns : 0, a.columns);
  if (!svd(a, s, wants_vectors ? &left : nullptr, &right)) return 1;
  store_numbers(call.s, i, s, scale);
  if (!wants_vectors) return 0;
  store_complex(call.u, i, is_wide ? right : left);
  store_complex(call.vh, i, (is_wide ? left : right).adjoint());
  return 0;
}

std::int64_t complex_eigh(const kernel::Eigh& call, std::int64_t i) {
  auto [a, scale, is_finite] = load_complex(call.batch, call.a, i);
  if (!is_finite) return 1;
  // Only the lower triangle is used, and of the diagonal only the real part.
  for (std::int64_t column = 0; column < a.columns; ++column) {
    a(column, column) = a(column, column).real();
    for (std::int64_t row = column + 1; row < a.rows; ++row) {
      if (call.upper)
        a(row, column) = std::conj(a(column, row));
      else
        a(column, row) = std::conj(a(row, column));
    }
  }
  std::vector<double> l(checked_count(a.rows));
  ComplexMatrix v(call.v ? a.rows : 0, a.columns);
  if (!hermitian_eigen(a, l, call.v ? &v : nullptr)) return 1;
  store_numbers(call.l, i, l, scale);
  store_complex(call.v, i, v);
  return 0;
}

template <class T>
bool is_finite(const T* numbers, std::int64_t count) {
  return std::all_of(numbers, numbers + count, [](T value) { return std::isfinite(value); });
}

// Writes matrix i of a batch, whose elements are at(row, column), if the output was requested.
template <class T, class At>
void store(const kernel::OptionalOut& to, std::int64_t i, std::int64_t rows, std::int64_t columns,
           At&& at) {
  if (!to) return;
  T* into = to.as<T>() + i * rows * columns;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      *into++ = static_cast<T>(at(row, column));
}

// Loads a matrix of a batch, or its transpose, scaled by a power of two so that its largest element
// is of order one.
template <class T>
Columns<double> load_columns(const kernel::MatrixBatch& batch, const T* from, bool is_transposed,
                             double& scale) {
  double greatest = 0;
  for (std::int64_t k = 0; k < batch.rows * batch.columns; ++k)
    greatest = std::max(greatest, std::abs(double{from[k]}));
  scale = power_of_two_at(greatest);
  Columns<double> result(is_transposed ? batch.columns : batch.rows,
                         is_transposed ? batch.rows : batch.columns);
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    for (std::int64_t column = 0; column < batch.columns; ++column, ++from) {
      (is_transposed ? result(column, row) : result(row, column)) = *from / scale;
    }
  }
  return result;
}

template <class T>
Columns<T> identity(std::int64_t rows, std::int64_t columns) {
  Columns<T> result(rows, columns);
  for (std::int64_t k = 0; k < std::min(rows, columns); ++k) result(k, k) = 1;
  return result;
}

template <class T>
std::int64_t real_qr(const kernel::Qr& call, std::int64_t i) {
  const auto [count, rows, columns] = call.batch;
  const T* const from = call.a.as<T>() + i * rows * columns;
  const std::vector<double> scales = scales_of_columns(
      rows, columns,
      [&](std::int64_t row, std::int64_t column) { return from[row * columns + column]; });
  Columns<T> a(rows, columns);
  for (std::int64_t column = 0; column < columns; ++column) {
    const double by = 1 / scales[static_cast<std::size_t>(column)];
    for (std::int64_t row = 0; row < rows; ++row)
      a(row, column) = static_cast<T>(from[row * columns + column] * by);
  }
  const Householder<T> qr(std::move(a));
  if (call.q) {
    Columns<T> q = identity<T>(rows, call.q_columns);
    qr.apply(q, true);
    store<T>(call.q, i, rows, call.q_columns, std::as_const(q));
  }
  store<T>(call.r, i, call.q_columns, columns, [&](std::int64_t row, std::int64_t column) {
    return row <= column ? qr.r()(row, column) * scales[static_cast<std::size_t>(column)] : 0;
  });
  return 0;
}

// Computed in double, in which small singular values are more accurate.
template <class T>
std::int64_t real_svd(const kernel::Svd& call, std::int64_t i) {
  const auto [count, m, n] = call.batch;
  const T* const from = call.a.as<T>() + i * m * n;
  if (!is_finite(from, m * n)) return 1;
  const bool is_wide = m < n;
  const bool wants_vectors = call.u || call.vh;
  double scale = 1;
  const Columns<double> a = load_columns(call.batch, from, is_wide, scale);
  const std::int64_t rows = a.rows();
  const std::int64_t columns = a.columns();
  const std::size_t size = checked_count((CheckedInt(columns) * columns).value());
  // A non-square matrix is first reduced to a square one by reflections.
  std::optional<Householder<double>> qr;
  if (rows > columns) qr.emplace(a);
  const Columns<double>& reduced = qr ? qr->r() : a;
  std::vector<double> square(size);
  for (std::int64_t column = 0; column < columns; ++column)
    std::copy_n(reduced.column(column), qr ? column + 1 : columns,
                square.data() + column * columns);
  std::vector<double> values(checked_count(columns));
  std::vector<double> inner(wants_vectors ? size : 0);
  std::vector<double> right(inner.size());
  if (!square_svd(columns, square.data(), values.data(), wants_vectors ? inner.data() : nullptr,
                  wants_vectors ? right.data() : nullptr))
    return 1;
  store_numbers(call.s, i, values, scale);
  if (!wants_vectors) return 0;
  Columns<double> left = identity<double>(rows, call.full ? rows : columns);
  for (std::int64_t column = 0; column < columns; ++column)
    std::copy_n(inner.data() + column * columns, columns, left.column(column));
  if (qr) qr->apply(left, false);
  const auto of_left = [&](std::int64_t row, std::int64_t column) { return left(row, column); };
  const auto of_right = [&](std::int64_t row, std::int64_t column) {
    return right[static_cast<std::size_t>(column * columns + row)];
  };
  const auto turned = [](auto& at) {
    return [&at](std::int64_t row, std::int64_t column) { return at(column, row); };
  };
  if (is_wide) {
    store<T>(call.u, i, columns, columns, of_right);
    store<T>(call.vh, i, left.columns(), rows, turned(of_left));
  } else {
    store<T>(call.u, i, rows, left.columns(), of_left);
    store<T>(call.vh, i, columns, columns, turned(of_right));
  }
  return 0;
}

template <class T>
std::int64_t real_eigh(const kernel::Eigh& call, std::int64_t i) {
  const std::int64_t n = call.batch.rows;
  const T* const from = call.a.as<T>() + i * n * n;
  if (!is_finite(from, n * n)) return 1;
  // Only the lower triangle is read.
  std::vector<T> a(checked_count((CheckedInt(n) * n).value()));
  double greatest = 0;
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t column = 0; column <= row; ++column) {
      const T value = from[call.upper ? column * n + row : row * n + column];
      a[static_cast<std::size_t>(row * n + column)] = value;
      greatest = std::max(greatest, std::abs(double{value}));
    }
  }
  const auto scale = static_cast<T>(power_of_two_at(greatest));
  for (T& value : a) value /= scale;
  T* const l = call.l.as<T>() + i * n;
  if (!symmetric_eigen(n, a.data(), l, call.v ? call.v.as<T>() + i * n * n : nullptr)) return 1;
  for (std::int64_t k = 0; k < n; ++k) l[k] *= scale;
  return 0;
}

// The sizes |re| + |im| of the elements of matrix i of a batch, row by row: they are as good for
// balancing as magnitudes, and take no roots.
std::vector<double> sizes_of(const kernel::MatrixBatch& batch, const kernel::In& a, std::int64_t i,
                             double scale) {
  std::vector<double> sizes(checked_count(batch.rows * batch.columns));
  double* into = sizes.data();
  const double by = 1 / scale;
  visit_numbers(batch, a, i, [&](std::int64_t, std::int64_t, Complex value) {
    *into++ = std::abs(value.real()) * by + std::abs(value.imag()) * by;
  });
  return sizes;
}

std::int64_t balance(const kernel::Balance& call, std::int64_t i) {
  const std::int64_t n = call.batch.rows;
  std::vector<double> sizes = sizes_of(call.batch, call.a, i, 1);
  std::vector<double> scales(checked_count(n), 1);
  if (is_finite(sizes.data(), std::ssize(sizes))) {
    const Balance found = balance_of(n, std::move(sizes), static_cast<int>(call.most));
    for (std::size_t k = 0; k < scales.size(); ++k)
      scales[static_cast<std::size_t>(found.order[k])] = found.scales[k];
  }
  visit_floating(call.ratios.dtype(), "linalg", [&]<class T>() {
    T* into = call.ratios.as<T>() + i * n * n;
    for (const double of_row : scales)
      for (const double of_column : scales) *into++ = static_cast<T>(of_column / of_row);
  });
  return 0;
}

// Computes the eigenvalues of a balanced matrix, and eigenvectors unless `v` is null.
bool balanced_eigen(ComplexMatrix& a, bool is_real, Complex* l, ComplexMatrix* v) {
  const std::int64_t n = a.rows;
  if (is_real) {
    std::vector<double> real;
    real.reserve(a.values.size());
    for (const Complex value : a.values) real.push_back(value.real());
    return real_eigen(n, real.data(), l, v);
  }
  ComplexMatrix u;
  if (!schur(a, u)) return false;
  for (std::int64_t k = 0; k < n; ++k) l[k] = a(k, k);
  if (v != nullptr) *v = eigenvectors(a, u);
  return true;
}

std::int64_t eig(const kernel::Eig& call, std::int64_t i) {
  const auto [a, scale, is_finite] = load_complex(call.batch, call.a, i);
  if (!is_finite) return 1;
  const std::int64_t n = a.rows;
  // Ratios of scales remain normal numbers.
  const Balance balance = balance_of(n, sizes_of(call.batch, call.a, i, scale), 500);
  const auto original = [&](std::int64_t k) { return balance.order[static_cast<std::size_t>(k)]; };
  const auto scale_of = [&](std::int64_t k) { return balance.scales[static_cast<std::size_t>(k)]; };
  ComplexMatrix balanced(n, n);
  for (std::int64_t column = 0; column < n; ++column)
    for (std::int64_t row = 0; row < n; ++row)
      balanced(row, column) =
          a(original(row), original(column)) * (scale_of(column) / scale_of(row));
  ComplexMatrix l(n, 1);
  ComplexMatrix v(n, n);
  if (!balanced_eigen(balanced, !is_complex(call.a.dtype()), l.column(0), call.v ? &v : nullptr))
    return 1;
  for (std::int64_t k = 0; k < n; ++k)
    if (k < balance.first || k >= balance.last) l(k, 0) = a(original(k), original(k));
  store_complex(call.l, i, l, n, scale);
  if (!call.v) return 0;
  ComplexMatrix vectors(n, n);
  for (std::int64_t column = 0; column < n; ++column)
    for (std::int64_t row = 0; row < n; ++row)
      vectors(original(row), column) = v(row, column) * scale_of(row);
  normalize(vectors);
  store_complex(call.v, i, vectors);
  return 0;
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void Qr::compute_on_cpu() const {
  // A batch of empty matrices may be as large as an integer allows.
  if (q_columns == 0) return;
  const std::int64_t work = batch.rows * batch.columns * q_columns;
  cpu::for_each_matrix(batch.count, work, {}, [&](std::int64_t i) -> std::int64_t {
    if (is_complex(a.dtype())) return cpu::complex_qr(*this, i);
    return visit_floating(a.dtype(), "linalg",
                          [&]<class T>() { return cpu::real_qr<T>(*this, i); });
  });
}

void Svd::compute_on_cpu() const {
  const std::int64_t columns = std::min(batch.rows, batch.columns);
  const bool completes = full && (u || vh) && batch.rows != batch.columns;
  if (columns == 0 && !completes) return cpu::report(breakdown);
  const std::int64_t work = 10 * batch.rows * batch.columns * columns;
  cpu::for_each_matrix(batch.count, work, breakdown, [&](std::int64_t i) -> std::int64_t {
    if (is_complex(a.dtype())) return cpu::complex_svd(*this, i);
    return visit_floating(a.dtype(), "linalg",
                          [&]<class T>() { return cpu::real_svd<T>(*this, i); });
  });
}

void Eigh::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  if (n == 0) return cpu::report(breakdown);
  cpu::for_each_matrix(batch.count, 10 * n * n * n, breakdown, [&](std::int64_t i) -> std::int64_t {
    if (is_complex(a.dtype())) return cpu::complex_eigh(*this, i);
    return visit_floating(a.dtype(), "linalg",
                          [&]<class T>() { return cpu::real_eigh<T>(*this, i); });
  });
}

void Eig::compute_on_cpu() const {
  if (batch.rows == 0) return cpu::report(breakdown);
  const std::int64_t work = 50 * batch.rows * batch.rows * batch.rows;
  cpu::for_each_matrix(batch.count, work, breakdown,
                       [&](std::int64_t i) { return cpu::eig(*this, i); });
}

void Balance::compute_on_cpu() const {
  const std::int64_t work = 10 * batch.rows * batch.rows;
  cpu::for_each_matrix(batch.count, work, {},
                       [&](std::int64_t i) { return cpu::balance(*this, i); });
}

}  // namespace eg::kernel
