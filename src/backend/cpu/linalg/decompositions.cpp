// By Eigen: QR by Householder's reflections. Singular values are those of a square matrix
// (square_svd.h). Those of complex matrices are in complex_matrix.h.

#include "kernels/decompositions.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/cpu/linalg/complex_matrix.h"
#include "backend/cpu/linalg/eigen_batch.h"
#include "backend/cpu/linalg/square_svd.h"
#include "backend/cpu/linalg/symmetric_eigen.h"
#include "base/checked_int.h"

namespace eg::cpu {
namespace {

double power_of_two_at(double greatest) {
  return greatest > 0 && std::isfinite(greatest) ? std::exp2(std::ilogb(greatest)) : 1;
}

// The power of two by which to divide a matrix so that squares neither overflow nor vanish.
double magnitude(const Matrix& a) {
  const double greatest = a.cwiseAbs().maxCoeff();
  return power_of_two_at(greatest);
}

// Calls visit with the parts of a complex dtype.
template <class Visit>
void visit_complex(DType dtype, Visit&& visit) {
  if (dtype == DType::kComplex64)
    visit.template operator()<float>();
  else
    visit.template operator()<double>();
}

// A matrix of a batch, divided by the power of two at its largest number.
struct ScaledMatrix {
  ComplexMatrix matrix;
  double scale = 1;
  bool is_finite = true;
};

ScaledMatrix load_complex(const kernel::MatrixBatch& batch, const kernel::In& a, std::int64_t i) {
  ScaledMatrix loaded{ComplexMatrix(batch.rows, batch.columns)};
  double greatest = 0;
  visit_complex(a.dtype(), [&]<class T>() {
    const auto* from = a.as<std::complex<T>>() + i * batch.rows * batch.columns;
    for (std::int64_t row = 0; row < batch.rows; ++row) {
      for (std::int64_t column = 0; column < batch.columns; ++column, ++from) {
        loaded.matrix(row, column) = Complex(*from);
        greatest =
            std::max({greatest, std::abs(double{from->real()}), std::abs(double{from->imag()})});
        loaded.is_finite =
            loaded.is_finite && std::isfinite(from->real()) && std::isfinite(from->imag());
      }
    }
  });
  loaded.scale = power_of_two_at(greatest);
  for (Complex& value : loaded.matrix.values) value /= loaded.scale;
  return loaded;
}

// Writes the first rows of a matrix where they are wanted.
void store_complex(const kernel::Out& to, std::int64_t i, const ComplexMatrix& matrix,
                   std::int64_t rows, double scale = 1) {
  if (!to) return;
  visit_complex(to.dtype(), [&]<class T>() {
    auto* into = to.as<std::complex<T>>() + i * rows * matrix.columns;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < matrix.columns; ++column)
        *into++ = std::complex<T>(matrix(row, column) * scale);
  });
}
void store_complex(const kernel::Out& to, std::int64_t i, const ComplexMatrix& matrix) {
  store_complex(to, i, matrix, matrix.rows);
}

// Writes real numbers, one after the other.
void store_numbers(const kernel::Out& to, std::int64_t i, const std::vector<double>& numbers,
                   double scale) {
  visit_floating(to.dtype(), "linalg", [&]<class T>() {
    T* into = to.as<T>() + i * std::ssize(numbers);
    for (const double number : numbers) *into++ = static_cast<T>(number * scale);
  });
}

// `a` with as many columns more as make it square, orthogonal to all that it has.
ComplexMatrix completed(const ComplexMatrix& a) {
  ComplexMatrix copy = a;
  ComplexMatrix result = qr(copy, a.rows);
  std::copy(a.values.begin(), a.values.end(), result.values.begin());
  return result;
}

std::int64_t complex_qr(const kernel::Qr& call, std::int64_t i) {
  auto [r, scale, is_finite] = load_complex(call.batch, call.a, i);
  const ComplexMatrix q = qr(r, call.q_columns);
  store_complex(call.q, i, q);
  store_complex(call.r, i, r, call.q_columns, scale);
  return 0;
}

std::int64_t complex_svd(const kernel::Svd& call, std::int64_t i) {
  auto [a, scale, is_finite] = load_complex(call.batch, call.a, i);
  if (!is_finite) return 1;
  const bool is_wide = a.rows < a.columns;
  if (is_wide) a = a.adjoint();
  std::vector<double> s;
  const ComplexMatrix right = svd(a, s);
  store_numbers(call.s, i, s, scale);
  if (!call.u && !call.vh) return 0;
  const ComplexMatrix left = call.full ? completed(a) : std::move(a);
  store_complex(call.u, i, is_wide ? right : left);
  store_complex(call.vh, i, (is_wide ? left : right).adjoint());
  return 0;
}

std::int64_t complex_eigh(const kernel::Eigh& call, std::int64_t i) {
  auto [a, scale, is_finite] = load_complex(call.batch, call.a, i);
  if (!is_finite) return 1;
  // One triangle stands for both, the diagonal for its real part.
  for (std::int64_t column = 0; column < a.columns; ++column) {
    a(column, column) = a(column, column).real();
    for (std::int64_t row = column + 1; row < a.rows; ++row) {
      if (call.upper)
        a(row, column) = std::conj(a(column, row));
      else
        a(column, row) = std::conj(a(row, column));
    }
  }
  ComplexMatrix u;
  if (!schur(a, u)) return 1;
  std::vector<double> diagonal;
  diagonal.reserve(static_cast<std::size_t>(a.rows));
  for (std::int64_t k = 0; k < a.rows; ++k) diagonal.push_back(a(k, k).real());
  std::vector<double> l;
  ComplexMatrix v(a.rows, a.rows);
  for (const std::int64_t from : rising_order(diagonal)) {
    std::copy_n(u.column(from), a.rows, v.column(std::ssize(l)));
    l.push_back(diagonal[static_cast<std::size_t>(from)]);
  }
  store_numbers(call.l, i, l, scale);
  store_complex(call.v, i, v);
  return 0;
}

template <class T>
std::int64_t real_eigh(const kernel::Eigh& call, std::int64_t i) {
  const std::int64_t n = call.batch.rows;
  const T* const from = call.a.as<T>() + i * n * n;
  if (!std::all_of(from, from + n * n, [](T value) { return std::isfinite(value); })) return 1;
  // Of which the lower triangle is read.
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

std::int64_t eig(const kernel::Eig& call, std::int64_t i) {
  auto [t, scale, is_finite] = load_complex(call.batch, call.a, i);
  ComplexMatrix u;
  if (!is_finite || !schur(t, u)) return 1;
  ComplexMatrix l(t.rows, 1);
  for (std::int64_t k = 0; k < t.rows; ++k) l(k, 0) = t(k, k);
  store_complex(call.l, i, l, t.rows, scale);
  store_complex(call.v, i, eigenvectors(t, u));
  return 0;
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

using cpu::index;
using cpu::load;
using cpu::Matrix;
using cpu::store;

void Qr::compute_on_cpu() const {
  const std::int64_t work = batch.rows * batch.columns * q_columns;
  cpu::for_each_matrix(batch.count, work, {}, [&](std::int64_t i) -> std::int64_t {
    if (is_complex(a.dtype())) return cpu::complex_qr(*this, i);
    const Matrix matrix = load(batch, a, i);
    if (matrix.size() == 0) {
      store(q, i, Matrix::Identity(index(batch.rows), index(q_columns)));
      return 0;
    }
    const double scale = cpu::magnitude(matrix);
    const Eigen::HouseholderQR<Matrix> qr(matrix / scale);
    if (q) store(q, i, qr.householderQ() * Matrix::Identity(index(batch.rows), index(q_columns)));
    const Matrix upper = qr.matrixQR().topRows(q_columns).triangularView<Eigen::Upper>();
    store(r, i, upper * scale);
    return 0;
  });
}

void Svd::compute_on_cpu() const {
  const std::int64_t rows = std::max(batch.rows, batch.columns);
  const std::int64_t columns = std::min(batch.rows, batch.columns);
  const bool is_wide = batch.rows < batch.columns;
  const bool vectors = u || vh;
  const std::int64_t work = 10 * rows * columns * columns;
  cpu::for_each_matrix(batch.count, work, breakdown, [&](std::int64_t i) -> std::int64_t {
    if (is_complex(a.dtype())) return cpu::complex_svd(*this, i);
    Matrix matrix = load(batch, a, i);
    if (!matrix.allFinite()) return 1;
    Matrix left;
    Matrix right;
    if (vectors) {
      left = Matrix::Identity(index(rows), index(full ? rows : columns));
      right.resize(index(columns), index(columns));
    }
    if (columns > 0) {
      if (is_wide) matrix.transposeInPlace();
      const double scale = cpu::magnitude(matrix);
      Matrix square = matrix / scale;
      // What is not square becomes so by reflections first.
      Eigen::HouseholderQR<Matrix> qr;
      if (rows > columns) {
        qr.compute(square);
        square = qr.matrixQR().topRows(columns).triangularView<Eigen::Upper>();
      }
      Matrix values(index(columns), 1);
      Matrix inner(right.rows(), right.cols());
      if (!cpu::square_svd(columns, square.data(), values.data(), inner.data(), right.data()))
        return 1;
      store(s, i, values * scale);
      if (vectors) {
        left.topLeftCorner(index(columns), index(columns)) = inner;
        if (rows > columns) left.applyOnTheLeft(qr.householderQ());
      }
    }
    if (!vectors) return 0;
    store(u, i, is_wide ? right : left);
    store(vh, i, (is_wide ? left : right).transpose());
    return 0;
  });
}

void Eigh::compute_on_cpu() const {
  const std::int64_t n = batch.rows;
  cpu::for_each_matrix(batch.count, 10 * n * n * n, breakdown, [&](std::int64_t i) -> std::int64_t {
    if (is_complex(a.dtype())) return cpu::complex_eigh(*this, i);
    return visit_floating(a.dtype(), "linalg",
                          [&]<class T>() { return cpu::real_eigh<T>(*this, i); });
  });
}

void Eig::compute_on_cpu() const {
  const std::int64_t work = 50 * batch.rows * batch.rows * batch.rows;
  cpu::for_each_matrix(batch.count, work, breakdown,
                       [&](std::int64_t i) { return cpu::eig(*this, i); });
}

}  // namespace eg::kernel
