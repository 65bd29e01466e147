#include "backend/cpu/decompositions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "backend/cpu/householder.h"

namespace eg::cpu {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

using Order = std::vector<std::size_t>;

// The order in which `values` rise.
Order rising_order(const std::vector<double>& values) {
  Order order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return values[a] < values[b] || (values[a] == values[b] && a < b);
  });
  return order;
}

std::vector<double> in_order(const std::vector<double>& values, const Order& order, double factor) {
  std::vector<double> result;
  for (const std::size_t i : order) result.push_back(values[i] * factor);
  return result;
}

ColumnMatrix in_order(const ColumnMatrix& a, const Order& order) {
  ColumnMatrix result(a.rows(), a.columns());
  for (std::int64_t j = 0; j < a.columns(); ++j) {
    const auto from = static_cast<std::int64_t>(order[static_cast<std::size_t>(j)]);
    std::copy_n(a.column(from), a.rows(), result.column(j));
  }
  return result;
}

// Turns pairs of columns of `a`, and those of `v` with them, until they are all orthogonal.
void make_columns_orthogonal(ColumnMatrix& a, ColumnMatrix& v) {
  constexpr int kMaxSweeps = 60;
  bool is_done = false;
  // What rounding leaves of a product that should be zero.
  const double tolerance = kEpsilon * std::sqrt(static_cast<double>(a.rows()));
  std::vector<double> squares(static_cast<std::size_t>(a.columns()));
  for (int sweep = 0; sweep < kMaxSweeps && !is_done; ++sweep) {
    is_done = true;
    for (std::int64_t j = 0; j < a.columns(); ++j)
      squares[static_cast<std::size_t>(j)] = dot(a.column(j), a.column(j), a.rows());
    for (std::int64_t q = 1; q < a.columns(); ++q) {
      for (std::int64_t p = 0; p < q; ++p) {
        double* x = a.column(p);
        double* y = a.column(q);
        double& xx = squares[static_cast<std::size_t>(p)];
        double& yy = squares[static_cast<std::size_t>(q)];
        const double xy = dot(x, y, a.rows());
        if (std::abs(xy) <= tolerance * std::sqrt(xx) * std::sqrt(yy)) continue;
        is_done = false;
        const double cotangent = (xx - yy) / (2 * xy);
        const double t =
            std::copysign(1, cotangent) / (std::abs(cotangent) + std::hypot(1, cotangent));
        const double c = 1 / std::hypot(1, t);
        rotate(x, y, c, c * t, a.rows());
        xx += t * xy;
        yy = std::max(0.0, yy - t * xy);
        rotate(v.column(p), v.column(q), c, c * t, v.rows());
      }
    }
  }
}

struct Svd {
  ColumnMatrix u;
  std::vector<double> s;
  ColumnMatrix v;
};

// Of a matrix of finite numbers with at least as many rows as columns: A = Q R, and R V = U S has
// orthogonal columns. A second QR makes unit vectors of them, also of those that are zero.
Svd tall_svd(ColumnMatrix a, bool full, bool vectors) {
  const std::int64_t m = a.rows();
  const std::int64_t n = a.columns();
  const double magnitude = a.magnitude();
  a.scale(1 / magnitude);
  const HouseholderQR qr(std::move(a));
  ColumnMatrix us = qr.r(n);
  ColumnMatrix v = vectors ? ColumnMatrix::identity(n, n) : ColumnMatrix(0, n);
  make_columns_orthogonal(us, v);

  std::vector<double> s;
  for (std::int64_t j = 0; j < n; ++j) s.push_back(std::sqrt(dot(us.column(j), us.column(j), n)));
  Order order = rising_order(s);
  std::reverse(order.begin(), order.end());
  s = in_order(s, order, magnitude);
  if (!vectors) return {{}, std::move(s), {}};

  const HouseholderQR unit(in_order(us, order));
  const ColumnMatrix signs = unit.r(n);
  const ColumnMatrix inner = unit.times(ColumnMatrix::identity(n, n));
  ColumnMatrix u = ColumnMatrix::identity(m, full ? m : n);
  for (std::int64_t j = 0; j < n; ++j) {
    u(j, j) = 0;
    add_multiple(u.column(j), std::copysign(1, signs(j, j)), inner.column(j), n);
  }
  return {qr.times(std::move(u)), std::move(s), in_order(v, order)};
}

// A symmetric matrix as Q T Qᵀ: T has `diagonal`, and `beside` on both sides of it.
struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;
  ColumnMatrix q;
};

// Reads the lower triangle.
Tridiagonal tridiagonalize(ColumnMatrix a, bool vectors) {
  const std::int64_t n = a.rows();
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j + 1; i < n; ++i) a(j, i) = a(i, j);
  }
  Tridiagonal result;
  std::vector<double> taus;
  std::vector<double> w(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    const std::int64_t size = n - k - 1;
    double* v = a.column(k) + k + 1;
    taus.push_back(make_reflection(v, size));
    result.beside.push_back(v[0]);
    v[0] = 1;
    // The rest B becomes H B H = B - v wᵀ - w vᵀ.
    const double tau = taus.back();
    for (std::int64_t j = 0; j < size; ++j)
      w[static_cast<std::size_t>(j)] = tau * dot(a.column(k + 1 + j) + k + 1, v, size);
    add_multiple(w.data(), -0.5 * tau * dot(w.data(), v, size), v, size);
    for (std::int64_t j = 0; j < size; ++j) {
      add_multiple(a.column(k + 1 + j) + k + 1, -w[static_cast<std::size_t>(j)], v, size);
      add_multiple(a.column(k + 1 + j) + k + 1, -v[j], w.data(), size);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) result.diagonal.push_back(a(i, i));
  if (!vectors) {
    result.q = ColumnMatrix(0, n);
    return result;
  }
  result.q = ColumnMatrix::identity(n, n);
  for (std::int64_t k = n - 2; k >= 0; --k) {
    for (std::int64_t j = k + 1; j < n; ++j)
      reflect(a.column(k) + k + 1, taus[static_cast<std::size_t>(k)], result.q.column(j) + k + 1,
              n - k - 1);
  }
  return result;
}

// One implicit QR step with Wilkinson's shift on the rows first..last, whose neighbours are joined.
void qr_step(Tridiagonal& t, std::int64_t first, std::int64_t last) {
  double* d = t.diagonal.data();
  double* e = t.beside.data();
  const double half = (d[last - 1] - d[last]) / 2;
  const double corner = e[last - 1];
  const double shift =
      d[last] - corner * corner / (half + std::copysign(std::hypot(half, corner), half));
  double x = d[first] - shift;
  double z = e[first];
  for (std::int64_t k = first; k < last; ++k) {
    const double r = std::hypot(x, z);
    const double c = r == 0 ? 1 : x / r;
    const double s = r == 0 ? 0 : z / r;
    if (k > first) e[k - 1] = r;
    const double a = d[k];
    const double b = e[k];
    const double g = d[k + 1];
    d[k] = c * c * a + 2 * c * s * b + s * s * g;
    d[k + 1] = s * s * a - 2 * c * s * b + c * c * g;
    e[k] = (c * c - s * s) * b + c * s * (g - a);
    if (k + 1 < last) {
      x = e[k];
      z = s * e[k + 1];
      e[k + 1] *= c;
    }
    rotate(t.q.column(k), t.q.column(k + 1), c, s, t.q.rows());
  }
}

// Makes T diagonal. False when that takes more steps than it ever should.
bool diagonalize(Tridiagonal& t) {
  const auto n = static_cast<std::int64_t>(t.diagonal.size());
  const double* d = t.diagonal.data();
  double* e = t.beside.data();
  const auto is_joined = [&](std::int64_t k) {
    if (std::abs(e[k]) <= kEpsilon * (std::abs(d[k]) + std::abs(d[k + 1]))) e[k] = 0;
    return e[k] != 0;
  };
  std::int64_t steps = 30 * n;
  for (std::int64_t last = n - 1; last > 0;) {
    if (!is_joined(last - 1)) {
      --last;
      continue;
    }
    if (steps-- == 0) return false;
    std::int64_t first = last - 1;
    while (first > 0 && is_joined(first - 1)) --first;
    qr_step(t, first, last);
  }
  return true;
}

}  // namespace

void qr(const MatrixBatch& a, std::int64_t q_columns, void* q, void* r) {
  for_each_matrix(a.count, a.rows * a.columns * q_columns, [&](std::int64_t i) {
    ColumnMatrix matrix = load(a, i);
    const double magnitude = std::isnan(matrix.magnitude()) ? 1 : matrix.magnitude();
    matrix.scale(1 / magnitude);
    const HouseholderQR qr(std::move(matrix));
    if (q != nullptr) store(a.dtype, q, i, qr.times(ColumnMatrix::identity(a.rows, q_columns)));
    ColumnMatrix upper = qr.r(q_columns);
    upper.scale(magnitude);
    store(a.dtype, r, i, upper);
    return 0;
  });
}

Breakdown svd(const MatrixBatch& a, bool full, void* u, void* s, void* vh) {
  const bool vectors = u != nullptr || vh != nullptr;
  const std::int64_t work = 10 * a.rows * a.columns * std::min(a.rows, a.columns);
  return for_each_matrix(a.count, work, [&](std::int64_t i) {
    ColumnMatrix matrix = load(a, i);
    if (std::isnan(matrix.magnitude())) return 1;
    const bool is_wide = a.rows < a.columns;
    Svd result = tall_svd(is_wide ? matrix.transposed() : std::move(matrix), full, vectors);
    if (is_wide) std::swap(result.u, result.v);
    store(a.dtype, u, i, result.u);
    store(a.dtype, s, i, result.s);
    store(a.dtype, vh, i, result.v.transposed());
    return 0;
  });
}

Breakdown eigh(const MatrixBatch& a, bool upper, void* l, void* v) {
  return for_each_matrix(a.count, 10 * a.rows * a.rows * a.rows, [&](std::int64_t i) {
    ColumnMatrix matrix = load(a, i);
    if (upper) matrix = matrix.transposed();
    const double magnitude = matrix.magnitude();
    if (std::isnan(magnitude)) return 1;
    matrix.scale(1 / magnitude);
    Tridiagonal t = tridiagonalize(std::move(matrix), v != nullptr);
    if (!diagonalize(t)) return 1;
    const Order order = rising_order(t.diagonal);
    store(a.dtype, l, i, in_order(t.diagonal, order, magnitude));
    store(a.dtype, v, i, in_order(t.q, order));
    return 0;
  });
}

}  // namespace eg::cpu
