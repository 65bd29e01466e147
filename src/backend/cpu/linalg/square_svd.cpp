// compile: kernels

// The Golub-Kahan algorithm: reflections from both sides reduce the matrix to bidiagonal form, and
// implicit QR steps as described by Demmel and Kahan reduce the upper diagonal to zero.

#include "backend/cpu/linalg/square_svd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "backend/cpu/linalg/reflection.h"
#include "backend/cpu/linalg/rotated.h"
#include "backend/cpu/vector/vector_loop.h"

namespace eg::cpu {
namespace {

using Numbers = std::vector<double>;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// An element of the upper diagonal below this counts as zero: far below the rounding errors of
// elements of order one, and far enough above that of rotation_of() that every step makes progress.
constexpr double kNegligible = 1e-140;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

double dot(std::int64_t n, const double* x, const double* y) {
  return sum_of_vectors<double>(n, [&](auto c) { return c.load(x) * c.load(y); });
}

// y += factor * x
void add_scaled(std::int64_t n, double factor, const double* x, double* y) {
  for_each_vector<double>(0, n, [&](auto c) { c.store(y, c.load(y) + c.load(x) * factor); });
}

// Applies a reflection to `columns` columns of n, `stride` apart.
void reflect(std::int64_t n, const double* v, double factor, double* columns, std::int64_t count,
             std::int64_t stride) {
  if (factor == 0) return;
  for (std::int64_t j = 0; j < count; ++j) {
    double* const column = columns + j * stride;
    add_scaled(n, -factor * dot(n, v, column), v, column);
  }
}

// The bidiagonal form, and the reflections that produce it.
class Bidiagonal {
 public:
  Bidiagonal(std::int64_t n, double* a, double* diagonal)
      : n_(n),
        left_(a),
        right_(at(n * n)),
        left_factors_(at(n)),
        right_factors_(at(n)),
        upper(at(n)) {
    Numbers sums(at(n));
    for (std::int64_t k = 0; k < n; ++k) {
      double* const v = a + k * n + k;
      const Reflection left = reflect_all_but(0, n - k, v);
      left_factors_[at(k)] = left.factor;
      diagonal[k] = left.left;
      const std::int64_t rest = n - k - 1;
      if (rest == 0) break;
      reflect(n - k, v, left.factor, v + n, rest, n);
      double* const w = right_.data() + k * n + k + 1;
      for (std::int64_t j = 0; j < rest; ++j) w[j] = v[(j + 1) * n];
      const Reflection right = reflect_all_but(0, rest, w);
      right_factors_[at(k)] = right.factor;
      upper[at(k)] = right.left;
      if (right.factor == 0) continue;
      double* const below = v + n + 1;
      std::fill_n(sums.begin(), rest, 0.0);
      for (std::int64_t j = 0; j < rest; ++j) add_scaled(rest, w[j], below + j * n, sums.data());
      for (std::int64_t j = 0; j < rest; ++j)
        add_scaled(rest, -right.factor * w[j], sums.data(), below + j * n);
    }
  }

  /// The product of the reflections from the left.
  Numbers left() const { return product(left_, left_factors_, 0); }
  Numbers right() const { return product(right_.data(), right_factors_, 1); }

 private:
  // Reflection k acts on the rows from k + first on.
  Numbers product(const double* vectors, const Numbers& factors, std::int64_t first) const {
    Numbers result(at(n_ * n_));
    for (std::int64_t k = 0; k < n_; ++k) result[at(k * n_ + k)] = 1;
    for (std::int64_t k = n_ - 1; k >= 0; --k) {
      const std::int64_t row = k + first;
      if (row >= n_) continue;
      reflect(n_ - row, vectors + k * n_ + row, factors[at(k)], result.data() + row * n_ + row,
              n_ - row, n_);
    }
    return result;
  }

  std::int64_t n_;
  const double* left_;
  Numbers right_;
  Numbers left_factors_;
  Numbers right_factors_;

 public:
  Numbers upper;
};

Rotated<double> rotated(std::int64_t n, const Numbers& columns) {
  Rotated<double> result(n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) result(i, j) = columns[at(j * n + i)];
  return result;
}

// Returns the smaller singular value of (f g; 0 h), which is used as a shift.
double smaller_singular_value(double f, double g, double h) {
  const double low = std::min(std::abs(f), std::abs(h));
  const double high = std::max(std::abs(f), std::abs(h));
  if (low == 0) return 0;
  const double ratio = low / high;
  const double slope = std::abs(g) / high;
  const double sum = std::hypot(1 + ratio, slope);
  const double difference = std::hypot(1 - ratio, slope);
  return 2 * low / (sum + difference);
}

// One QR step on d and e, whose last elements are d[n - 1] and e[n - 2]. Stores the rotations to
// apply from the right and from the left.
void step(std::int64_t n, double* d, double* e, Rotation<double>* right, Rotation<double>* left) {
  const double first = std::abs(d[0]);
  double shift = smaller_singular_value(d[n - 2], e[n - 2], d[n - 1]);
  // With a zero on the diagonal no shift is used, which moves the zero to the end immediately.
  if (shift * shift < kEpsilon * first * first ||
      std::any_of(d, d + n, [](double x) { return std::abs(x) < kNegligible; }))
    shift = 0;
  if (shift == 0) {
    double c = 1;
    Rotation<double> old{1, 0};
    for (std::int64_t i = 0; i < n - 1; ++i) {
      double r;
      right[i] = rotation_of(d[i] * c, e[i], r);
      if (i > 0) e[i - 1] = old.s * r;
      c = right[i].c;
      left[i] = old = rotation_of(old.c * r, d[i + 1] * right[i].s, d[i]);
    }
    const double last = d[n - 1] * c;
    d[n - 1] = last * old.c;
    e[n - 2] = last * old.s;
    return;
  }
  const double greater = std::max(first, shift);
  double f = (first - shift) * ((first + shift) / greater);
  double g = e[0] * (d[0] / greater);
  for (std::int64_t i = 0; i < n - 1; ++i) {
    double r;
    right[i] = rotation_of(f, g, r);
    if (i > 0) e[i - 1] = r;
    const auto [c, s] = right[i];
    f = c * d[i] + s * e[i];
    e[i] = c * e[i] - s * d[i];
    g = s * d[i + 1];
    d[i + 1] *= c;
    left[i] = rotation_of(f, g, d[i]);
    f = left[i].c * e[i] + left[i].s * d[i + 1];
    d[i + 1] = left[i].c * d[i + 1] - left[i].s * e[i];
    if (i < n - 2) {
      g = left[i].s * e[i + 1];
      e[i + 1] *= left[i].c;
    }
  }
  e[n - 2] = f;
}

// Calls rotate(first, count, right, left) for the sweeps that reduce e to zero.
template <class Rotate>
bool diagonalize(std::int64_t n, double* d, double* e, Rotate&& rotate) {
  std::vector<Rotation<double>> right(at(n));
  std::vector<Rotation<double>> left(at(n));
  double greatest = 0;
  for (std::int64_t i = 0; i < n; ++i)
    greatest = std::max({greatest, std::abs(d[i]), std::abs(e[i])});
  constexpr int kPatience = 30;
  constexpr int kMostSteps = 90;
  int steps = 0;
  for (std::int64_t end = n; end > 1;) {
    std::int64_t begin = end - 1;
    for (; begin > 0; --begin) {
      // Comparing with the neighbors keeps small singular values accurate, but takes long when
      // neighbors differ by many orders of magnitude. After kPatience steps the largest value is
      // the reference.
      const double neighbors = std::abs(d[begin - 1]) + std::abs(d[begin]);
      const double least = kEpsilon * (steps < kPatience ? neighbors : greatest) + kNegligible;
      if (std::abs(e[begin - 1]) <= least) break;
    }
    if (begin > 0) e[begin - 1] = 0;
    if (begin == end - 1) {
      --end;
      steps = 0;
      continue;
    }
    if (++steps > kMostSteps) return false;
    step(end - begin, d + begin, e + begin, right.data(), left.data());
    rotate(begin, end - begin - 1, right.data(), left.data());
  }
  return true;
}

}  // namespace

bool square_svd(std::int64_t n, double* a, double* s, double* u, double* v) {
  Numbers d(at(n));
  Bidiagonal bidiagonal(n, a, d.data());
  double* const e = bidiagonal.upper.data();
  std::vector<std::int64_t> order(at(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  // Largest first.
  const auto sort = [&] {
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t* const rest = order.data() + i;
      std::int64_t* const end = order.data() + n;
      std::int64_t* const greatest = std::max_element(
          rest, end,
          [&](std::int64_t j, std::int64_t k) { return std::abs(d[at(j)]) < std::abs(d[at(k)]); });
      std::rotate(rest, greatest, greatest + 1);
      s[i] = std::abs(d[at(order[at(i)])]);
    }
  };
  if (u == nullptr) {
    if (!diagonalize(n, d.data(), e, [](auto...) {})) return false;
    sort();
    return true;
  }
  Rotated<double> left = rotated(n, bidiagonal.left());
  Rotated<double> right = rotated(n, bidiagonal.right());
  const bool ended =
      diagonalize(n, d.data(), e,
                  [&](std::int64_t first, std::int64_t count, const Rotation<double>* by_right,
                      const Rotation<double>* by_left) {
                    right.rotate(first, count, by_right);
                    left.rotate(first, count, by_left);
                  });
  if (!ended) return false;
  sort();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t column = order[at(i)];
    const double sign = std::signbit(d[at(column)]) ? -1 : 1;
    for (std::int64_t row = 0; row < n; ++row) {
      u[i * n + row] = left(row, column);
      v[i * n + row] = sign * right(row, column);
    }
  }
  return true;
}

}  // namespace eg::cpu
