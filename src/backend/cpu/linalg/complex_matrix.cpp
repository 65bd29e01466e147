#include "backend/cpu/linalg/complex_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/linalg/complex_vector.h"
#include "backend/cpu/linalg/reflection.h"
#include "backend/cpu/linalg/square_svd.h"
#include "base/checked_int.h"

namespace eg::cpu {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Returns the Euclidean norm of a vector without overflow in the squares.
double length(const Complex* x, std::int64_t count) {
  double greatest = 0;
  for (std::int64_t i = 0; i < count; ++i)
    greatest = std::max({greatest, std::abs(x[i].real()), std::abs(x[i].imag())});
  if (greatest == 0) return 0;
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += std::norm(x[i] / greatest);
  return greatest * std::sqrt(sum);
}

// Rotates `count` pairs that are `step` apart: x[i], y[i] <- c x[i] + conj(s) y[i], c y[i] - s
// x[i].
void rotate(Complex* x, Complex* y, std::int64_t count, std::int64_t step, double c, Complex s) {
  for (std::int64_t i = 0; i < count; ++i, x += step, y += step) {
    const Complex old = *x;
    *x = c * old + times(std::conj(s), *y);
    *y = c * *y - times(s, old);
  }
}

// Computes the reflection 1 - tau v v^H that maps x[0..count) to a multiple of the first unit
// vector. x becomes v, except that the first element of v is an implicit 1: x[0] holds the first
// element of the result instead. Returns tau.
Complex reflector(Complex* x, std::int64_t count) {
  auto* const parts = reinterpret_cast<double*>(x);
  const double by = lengthen(2 * count, parts, inner(count, x, x).real());
  const double rest = inner(count - 1, x + 1, x + 1).real();
  const Complex head = x[0];
  const double whole = std::sqrt(rest + std::norm(head));
  const double left = head.real() >= 0 ? -whole : whole;
  const bool is_done = rest == 0 && head.imag() == 0;
  x[0] = (is_done ? head.real() : left) / by;
  if (is_done) return 0;
  const Complex scale = 1.0 / (head - left);
  for (std::int64_t i = 1; i < count; ++i) x[i] = times(x[i], scale);
  return (left - head) / left;
}

// Applies 1 - tau v v^H from the left to one column; v[0] is an implicit 1.
void reflect(const Complex* v, Complex tau, std::int64_t count, Complex* x) {
  const Complex sum = times(tau, x[0] + inner(count - 1, v + 1, x + 1));
  x[0] -= sum;
  add_scaled(count - 1, -sum, v + 1, x + 1);
}

// Applies it from the right to the rows from `row` on and the columns from `column` on. `sums` is
// memory for a column.
void reflect_right(const Complex* v, Complex tau, ComplexMatrix& a, std::int64_t row,
                   std::int64_t column, std::vector<Complex>& sums) {
  const std::int64_t count = a.rows - row;
  const auto at = [&](std::int64_t j) { return j == column ? Complex(1) : v[j - column]; };
  std::fill(sums.begin(), sums.end(), Complex());
  for (std::int64_t j = column; j < a.columns; ++j)
    add_scaled(count, at(j), a.column(j) + row, sums.data());
  for (std::int64_t j = column; j < a.columns; ++j)
    add_scaled(count, -times(tau, std::conj(at(j))), sums.data(), a.column(j) + row);
}

// Replaces x by the product of reflections and x. Reflection k is that of tau k and of what column
// k of `vectors` has from row k + first on. `is_identity` states that x is the identity matrix, or
// its first columns.
void apply(const ComplexMatrix& vectors, const std::vector<Complex>& taus, std::int64_t first,
           ComplexMatrix& x, bool is_identity) {
  for (std::int64_t k = std::ssize(taus) - 1; k >= 0; --k) {
    const std::int64_t row = k + first;
    for (std::int64_t j = is_identity ? row : 0; j < x.columns; ++j)
      reflect(vectors.column(k) + row, taus[static_cast<std::size_t>(k)], x.rows - row,
              x.column(j) + row);
  }
}

// Zeroes what is more than `distance` rows below the diagonal.
void clear_below(ComplexMatrix& a, std::int64_t distance) {
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = j + distance + 1; i < a.rows; ++i) a(i, j) = 0;
}

double size_of(Complex z) { return std::abs(z.real()) + std::abs(z.imag()); }

// Returns the eigenvalue of the 2 by 2 block ending at row `last` that is closer to the block's
// last element.
Complex shift_at(const ComplexMatrix& t, std::int64_t last) {
  const Complex a = t(last - 1, last - 1);
  const Complex d = t(last, last);
  const Complex product = times(t(last, last - 1), t(last - 1, last));
  const Complex half = (a - d) * 0.5;
  const Complex root = std::sqrt(times(half, half) + product);
  // The larger divisor is free of cancellation.
  const Complex divisor = std::abs(half + root) > std::abs(half - root) ? half + root : half - root;
  return divisor == 0.0 ? d : d - product / divisor;
}

// One step of the QR iteration on rows and columns first..last.
void step(ComplexMatrix& t, ComplexMatrix& u, std::int64_t first, std::int64_t last,
          Complex shift) {
  const std::int64_t n = t.rows;
  Complex x = t(first, first) - shift;
  Complex y = t(first + 1, first);
  for (std::int64_t k = first; k < last; ++k) {
    const double whole = std::hypot(std::abs(x), std::abs(y));
    if (whole > 0) {
      // The phase of x is preserved, so c is real.
      const double size = std::abs(x);
      const Complex direction = size > 0 ? x / size : Complex(1);
      const double c = size / whole;
      const Complex s = times(y, std::conj(direction)) / whole;
      const std::int64_t from = std::max(first, k - 1);
      rotate(&t(k, from), &t(k + 1, from), n - from, n, c, s);
      rotate(t.column(k), t.column(k + 1), std::min(k + 3, last + 1), 1, c, std::conj(s));
      rotate(u.column(k), u.column(k + 1), n, 1, c, std::conj(s));
      if (k > first) t(k + 1, k - 1) = 0;
    }
    if (k + 1 < last) {
      x = t(k + 1, k);
      y = t(k + 2, k);
    }
  }
}

}  // namespace

ComplexMatrix::ComplexMatrix(std::int64_t height, std::int64_t width)
    : rows(height), columns(width), values(checked_count((CheckedInt(height) * width).value())) {}

ComplexMatrix ComplexMatrix::identity(std::int64_t height, std::int64_t width) {
  ComplexMatrix result(height, width);
  for (std::int64_t i = 0; i < std::min(height, width); ++i) result(i, i) = 1;
  return result;
}

ComplexMatrix ComplexMatrix::adjoint() const {
  ComplexMatrix result(columns, rows);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) result(j, i) = std::conj((*this)(i, j));
  return result;
}

std::vector<std::int64_t> rising_order(const std::vector<double>& numbers) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < std::ssize(numbers); ++i) {
    const double own = numbers[static_cast<std::size_t>(i)];
    auto position = order.end();
    while (position != order.begin() && numbers[static_cast<std::size_t>(*(position - 1))] > own)
      --position;
    order.insert(position, i);
  }
  return order;
}

ComplexMatrix qr(ComplexMatrix& a, std::int64_t q_columns) {
  std::vector<Complex> taus;
  for (std::int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    Complex* const v = a.column(k) + k;
    taus.push_back(reflector(v, a.rows - k));
    for (std::int64_t j = k + 1; j < a.columns; ++j)
      reflect(v, std::conj(taus.back()), a.rows - k, a.column(j) + k);
  }
  ComplexMatrix q = ComplexMatrix::identity(a.rows, q_columns);
  apply(a, taus, 0, q, true);
  clear_below(a, 0);
  return q;
}

bool svd(ComplexMatrix& a, std::vector<double>& s, ComplexMatrix* u, ComplexMatrix* v) {
  const std::int64_t n = a.columns;
  const auto at = [n](std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>(column * n + row);
  };
  std::vector<double> bidiagonal(at(0, n));
  ComplexMatrix right(n, n);
  std::vector<Complex> sums(checked_count(a.rows));
  std::vector<Complex> left_taus;
  std::vector<Complex> right_taus;
  for (std::int64_t k = 0; k < n; ++k) {
    Complex* const x = a.column(k) + k;
    left_taus.push_back(reflector(x, a.rows - k));
    bidiagonal[at(k, k)] = x->real();
    const std::int64_t next = k + 1;
    if (next == n) break;
    for (std::int64_t j = next; j < n; ++j)
      reflect(x, std::conj(left_taus.back()), a.rows - k, a.column(j) + k);
    Complex* const y = right.column(k) + next;
    for (std::int64_t j = next; j < n; ++j) y[j - next] = std::conj(a(k, j));
    right_taus.push_back(reflector(y, n - next));
    bidiagonal[at(k, next)] = y->real();
    reflect_right(y, right_taus.back(), a, next, next, sums);
  }
  std::vector<double> inner_left(u == nullptr ? 0 : at(0, n));
  std::vector<double> inner_right(inner_left.size());
  if (!square_svd(n, bidiagonal.data(), s.data(), u == nullptr ? nullptr : inner_left.data(),
                  u == nullptr ? nullptr : inner_right.data()))
    return false;
  if (u == nullptr) return true;
  *u = ComplexMatrix::identity(u->rows, u->columns);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      (*u)(i, j) = inner_left[at(i, j)];
      (*v)(i, j) = inner_right[at(i, j)];
    }
  }
  apply(a, left_taus, 0, *u, false);
  apply(right, right_taus, 1, *v, false);
  return true;
}

void to_hessenberg(ComplexMatrix& a, ComplexMatrix& u) {
  const std::int64_t n = a.rows;
  std::vector<Complex> sums(checked_count(n));
  std::vector<Complex> taus;
  taus.reserve(sums.size());
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    const std::int64_t next = k + 1;
    Complex* const x = a.column(k) + next;
    taus.push_back(reflector(x, n - next));
    for (std::int64_t j = next; j < n; ++j)
      reflect(x, std::conj(taus.back()), n - next, a.column(j) + next);
    reflect_right(x, taus.back(), a, 0, next, sums);
  }
  u = ComplexMatrix::identity(n, n);
  apply(a, taus, 1, u, true);
  clear_below(a, 1);
}

bool schur(ComplexMatrix& a, ComplexMatrix& u) {
  to_hessenberg(a, u);
  constexpr int kMostSteps = 30;
  std::int64_t last = a.rows - 1;
  for (int steps = 0; last > 0;) {
    std::int64_t first = last;
    while (first > 0) {
      const double scale = size_of(a(first - 1, first - 1)) + size_of(a(first, first));
      Complex& below = a(first, first - 1);
      if (size_of(below) <= kEpsilon * scale ||
          size_of(below) < std::numeric_limits<double>::min()) {
        below = 0;
        break;
      }
      --first;
    }
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (++steps > kMostSteps) return false;
    // An exceptional shift breaks cycles of the usual one.
    const bool is_odd = steps % 10 == 0;
    const Complex shift = is_odd
                              ? Complex(size_of(a(last, last - 1)) + size_of(a(last - 1, last - 1)))
                              : shift_at(a, last);
    step(a, u, first, last, shift);
  }
  return true;
}

ComplexMatrix eigenvectors(const ComplexMatrix& t, const ComplexMatrix& u) {
  const std::int64_t n = t.rows;
  double norm = 0;
  for (const Complex& value : t.values) norm = std::max(norm, size_of(value));
  const double least = std::max(kEpsilon * norm, std::numeric_limits<double>::min());
  ComplexMatrix result(n, n);
  std::vector<Complex> x(checked_count(n));
  for (std::int64_t k = 0; k < n; ++k) {
    x[static_cast<std::size_t>(k)] = 1;
    for (std::int64_t i = k - 1; i >= 0; --i) {
      Complex sum = 0;
      for (std::int64_t j = i + 1; j <= k; ++j)
        sum += times(t(i, j), x[static_cast<std::size_t>(j)]);
      const Complex gap = t(k, k) - t(i, i);
      x[static_cast<std::size_t>(i)] = sum / (size_of(gap) < least ? Complex(least) : gap);
      // When eigenvectors nearly coincide, the numbers grow without bound.
      constexpr double kMany = 1e100;
      if (size_of(x[static_cast<std::size_t>(i)]) < kMany) continue;
      for (std::int64_t j = i; j <= k; ++j) x[static_cast<std::size_t>(j)] /= kMany;
    }
    Complex* const vector = result.column(k);
    for (std::int64_t j = 0; j <= k; ++j)
      add_scaled(n, x[static_cast<std::size_t>(j)], u.column(j), vector);
  }
  return result;
}

void normalize(ComplexMatrix& vectors) {
  const std::int64_t n = vectors.rows;
  for (std::int64_t j = 0; j < vectors.columns; ++j) {
    Complex* const vector = vectors.column(j);
    const double whole = length(vector, n);
    for (std::int64_t i = 0; i < n; ++i) vector[i] /= whole;
    const Complex greatest = *std::max_element(
        vector, vector + n, [](Complex a, Complex b) { return std::norm(a) < std::norm(b); });
    const Complex turn = std::conj(greatest) / std::abs(greatest);
    // A sum with zero is never -0, which real vectors would have for imaginary parts.
    for (std::int64_t i = 0; i < n; ++i) vector[i] = times(vector[i], turn) + 0.0;
  }
}

}  // namespace eg::cpu
