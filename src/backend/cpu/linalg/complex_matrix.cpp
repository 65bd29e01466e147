#include "backend/cpu/linalg/complex_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked_int.h"

namespace eg::cpu {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// a^H b.
Complex inner(const Complex* a, const Complex* b, std::int64_t count) {
  Complex sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += times(std::conj(a[i]), b[i]);
  return sum;
}

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
  const double below = count > 1 ? length(x + 1, count - 1) : 0;
  const Complex head = x[0];
  if (below == 0 && head.imag() == 0) return 0;
  const double whole = std::hypot(std::abs(head), below);
  const double left = head.real() >= 0 ? -whole : whole;
  for (std::int64_t i = 1; i < count; ++i) x[i] /= head - left;
  x[0] = left;
  return (left - head) / left;
}

// Applies 1 - tau v v^H from the left to one column; v[0] is an implicit 1.
void reflect(const Complex* v, Complex tau, std::int64_t count, Complex* x) {
  const Complex sum = times(tau, x[0] + inner(v + 1, x + 1, count - 1));
  x[0] -= sum;
  for (std::int64_t i = 1; i < count; ++i) x[i] -= times(v[i], sum);
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

ComplexMatrix ComplexMatrix::identity(std::int64_t size) {
  ComplexMatrix result(size, size);
  for (std::int64_t i = 0; i < size; ++i) result(i, i) = 1;
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
  const std::int64_t count = std::min(a.rows, a.columns);
  std::vector<Complex> taus(checked_count(count));
  ComplexMatrix q(a.rows, q_columns);
  for (std::int64_t i = 0; i < q_columns; ++i) q(i, i) = 1;
  for (std::int64_t k = 0; k < count; ++k) {
    Complex* const v = a.column(k) + k;
    const Complex tau = reflector(v, a.rows - k);
    taus[static_cast<std::size_t>(k)] = tau;
    for (std::int64_t j = k + 1; j < a.columns; ++j)
      reflect(v, std::conj(tau), a.rows - k, a.column(j) + k);
  }
  for (std::int64_t k = count - 1; k >= 0; --k) {
    const Complex tau = taus[static_cast<std::size_t>(k)];
    for (std::int64_t j = 0; j < q_columns; ++j)
      reflect(a.column(k) + k, tau, a.rows - k, q.column(j) + k);
  }
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = j + 1; i < a.rows; ++i) a(i, j) = 0;
  return q;
}

ComplexMatrix svd(ComplexMatrix& a, std::vector<double>& s) {
  const std::int64_t n = a.columns;
  ComplexMatrix v = ComplexMatrix::identity(n);
  constexpr int kMostSweeps = 60;
  const double rounding = kEpsilon * static_cast<double>(a.rows);
  bool is_done = false;
  for (int sweep = 0; sweep < kMostSweeps && !is_done; ++sweep) {
    is_done = true;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        const double of_p = inner(a.column(p), a.column(p), a.rows).real();
        const double of_q = inner(a.column(q), a.column(q), a.rows).real();
        const Complex both = inner(a.column(p), a.column(q), a.rows);
        const double size = std::abs(both);
        if (size <= rounding * std::sqrt(of_p * of_q)) continue;
        is_done = false;
        const double zeta = (of_q - of_p) / (2 * size);
        const double t = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::hypot(1.0, zeta));
        const double c = 1 / std::hypot(1.0, t);
        const Complex turn = both / size * (c * t);
        // p <- c p - conj(turn) q, q <- c q + turn p.
        for (ComplexMatrix* m : {&a, &v}) rotate(m->column(p), m->column(q), m->rows, 1, c, -turn);
      }
    }
  }
  std::vector<double> fallen;
  fallen.reserve(static_cast<std::size_t>(n));
  for (std::int64_t j = 0; j < n; ++j) fallen.push_back(-length(a.column(j), a.rows));
  s.clear();
  ComplexMatrix left(a.rows, n);
  ComplexMatrix right(n, n);
  std::int64_t rank = 0;
  for (const std::int64_t from : rising_order(fallen)) {
    const std::int64_t j = std::ssize(s);
    s.push_back(-fallen[static_cast<std::size_t>(from)]);
    std::copy_n(v.column(from), n, right.column(j));
    if (s.back() <= s[0] * rounding) continue;
    rank = j + 1;
    for (std::int64_t i = 0; i < a.rows; ++i) left(i, j) = a(i, from) / s.back();
  }
  // The vectors of zero singular values are an arbitrary orthogonal completion: the remaining
  // columns of Q in a QR of the others.
  if (rank < n) {
    ComplexMatrix start(a.rows, rank);
    std::copy_n(left.values.begin(), start.values.size(), start.values.begin());
    const ComplexMatrix q = qr(start, n);
    std::copy(q.column(rank), q.column(rank) + (n - rank) * a.rows, left.column(rank));
  }
  a = std::move(left);
  return right;
}

void to_hessenberg(ComplexMatrix& a, ComplexMatrix& u) {
  const std::int64_t n = a.rows;
  u = ComplexMatrix::identity(n);
  std::vector<Complex> v(checked_count(n));
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    const std::int64_t count = n - k - 1;
    Complex* const x = a.column(k) + k + 1;
    const Complex tau = reflector(x, count);
    std::copy(x, x + count, v.begin());
    std::fill(x + 1, x + count, Complex());
    for (std::int64_t j = k + 1; j < n; ++j)
      reflect(v.data(), std::conj(tau), count, a.column(j) + k + 1);
    // Apply the reflection from the right, row by row.
    v[0] = 1;
    for (ComplexMatrix* m : {&a, &u}) {
      for (std::int64_t i = 0; i < n; ++i) {
        Complex sum = 0;
        for (std::int64_t j = 0; j < count; ++j)
          sum += times((*m)(i, k + 1 + j), v[static_cast<std::size_t>(j)]);
        sum = times(sum, tau);
        for (std::int64_t j = 0; j < count; ++j)
          (*m)(i, k + 1 + j) -= times(sum, std::conj(v[static_cast<std::size_t>(j)]));
      }
    }
  }
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
      for (std::int64_t i = 0; i < n; ++i)
        vector[i] += times(u(i, j), x[static_cast<std::size_t>(j)]);
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
