// compile: kernels

// Reflections reduce the matrix to tridiagonal form, and implicit QR steps with Wilkinson's shift
// reduce the off-diagonal to zero. A reflection is applied to the matrix while the next one is
// computed, so both take one pass over memory.

#include "backend/cpu/linalg/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "backend/cpu/linalg/reflection.h"
#include "backend/cpu/linalg/rotated.h"
#include "backend/cpu/matrix/gemm/gemm.h"
#include "backend/cpu/vector/vector_loop.h"
#include "base/small_vector.h"

namespace eg::cpu {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class T>
std::int64_t whole_vectors(std::int64_t count) {
  return (count + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
}

// The tridiagonal form Q^T A Q, and the reflections that produce it. All rows are padded with zeros
// to whole vectors.
template <class T>
class Tridiagonal {
 public:
  /// `reverses` takes rows and columns in reverse order.
  Tridiagonal(std::int64_t n, const T* a, bool reverses)
      : diagonal(at(n)),
        off_diagonal(at(n)),
        n_(n),
        width_(whole_vectors<T>(n)),
        a_(checked_count((CheckedInt(n) * width_).value())),
        factors_(at(n)),
        product_(at(width_)),
        update_(at(width_)),
        none_(at(width_)) {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j)
        row(i)[j] = reverses ? a[(n - 1 - j) * n + (n - 1 - i)] : a[i * n + j];
    const T* last = none_.data();
    for (std::int64_t i = n - 1; i >= 0; --i) {
      update_row(i, last);
      diagonal[at(i)] = double{row(i)[i]};
      std::fill(row(i) + i, row(i) + width_, T{0});
      if (i == 0) break;
      reflect_last(i);
      pass(i, last);
      last = row(i);
    }
  }

  /// Returns the product of the reflections, row-major.
  std::vector<T> reflections() {
    std::vector<T> result(a_.size());
    for (std::int64_t i = 0; i < n_; ++i) result[at(i * width_ + i)] = 1;
    for (std::int64_t i = 1; i < n_; ++i) {
      if (factors_[at(i)] == 0) continue;
      const std::int64_t columns = whole_vectors<T>(i);
      gemm::gemm<T>(1, columns, i, -factors_[at(i)], {row(i), width_, 1},
                    {result.data(), width_, 1}, 0, product_.data(), width_);
      for (std::int64_t r = 0; r < i; ++r)
        add_scaled(columns, row(i)[r], product_.data(), result.data() + r * width_);
    }
    return result;
  }

  std::int64_t width() const { return width_; }

  std::vector<double> diagonal;
  std::vector<double> off_diagonal;  ///< element i couples diagonal elements i and i + 1

 private:
  T* row(std::int64_t i) { return a_.data() + i * width_; }

  static void add_scaled(std::int64_t count, T factor, const T* x, T* y) {
    for_each_vector<T>(0, count, [&](auto c) { c.store(y, c.load(y) + c.load(x) * factor); });
  }

  // Applies the last reflection to one row.
  void update_row(std::int64_t i, const T* last) {
    const std::int64_t count = whole_vectors<T>(i + 1);
    add_scaled(count, -last[i], update_.data(), row(i));
    add_scaled(count, -update_[at(i)], last, row(i));
  }

  // Replaces the part of the row left of the diagonal by the v of a reflection 1 - factor v v^T
  // that zeroes all of its elements but the last.
  void reflect_last(std::int64_t i) {
    const Reflection reflection = reflect_all_but(i - 1, whole_vectors<T>(i), row(i));
    factors_[at(i)] = static_cast<T>(reflection.factor);
    off_diagonal[at(i - 1)] = reflection.left;
  }

  // Applies the last reflection to the rows above row i and multiplies them by the new v. The new
  // reflection then turns A into A - v u^T - u v^T, where u is stored in `update_`.
  void pass(std::int64_t i, const T* last) {
    const T* const v = row(i);
    const T factor = factors_[at(i)];
    T* const p = product_.data();
    T* const u = update_.data();
    std::fill_n(p, width_, T{0});
    for (std::int64_t r = 0; r < i; ++r) {
      T* const x = row(r);
      const T by_u = last[r];
      const T by_last = u[r];
      const T by_v = v[r];
      Vec<T> sums{};
      const std::int64_t whole = r / kLanes<T> * kLanes<T>;
      for_each_vector<T>(0, whole, [&](auto c) {
        const Vec<T> value = c.load(x) - (c.load(u) * by_u + c.load(last) * by_last);
        c.store(x, value);
        c.store(p, c.load(p) + value * by_v);
        sums += value * c.load(v);
      });
      T sum = 0;
      for (int lane = 0; lane < kLanes<T>; ++lane) sum += sums[lane];
      for (std::int64_t j = whole; j < r; ++j) {
        x[j] -= u[j] * by_u + last[j] * by_last;
        p[j] += x[j] * by_v;
        sum += x[j] * v[j];
      }
      x[r] -= 2 * by_u * by_last;
      p[r] += sum + x[r] * by_v;
    }
    const T turn =
        static_cast<T>(0.5 * double{factor} * sum_of_vectors<T>(whole_vectors<T>(i), [&](auto c) {
                         return c.load(p) * c.load(v);
                       }));
    for_each_vector<T>(0, width_,
                       [&](auto c) { c.store(u, (c.load(p) - c.load(v) * turn) * factor); });
  }

  std::int64_t n_;
  std::int64_t width_;
  std::vector<T> a_;
  std::vector<T> factors_;
  std::vector<T> product_;
  std::vector<T> update_;
  std::vector<T> none_;
};

// One QR step on d[0..n) and e[0..n-1). Stores its rotations.
template <class T>
void step(std::int64_t n, double* d, double* e, Rotation<T>* rotations) {
  const double half = 0.5 * (d[n - 2] - d[n - 1]);
  const double edge = e[n - 2];
  const double divisor = half + std::copysign(std::hypot(half, edge), half);
  double shift = d[n - 1];
  if (divisor != 0) shift -= edge * (edge / divisor);
  double f = d[0] - shift;
  double g = e[0];
  for (std::int64_t k = 0; k < n - 1; ++k) {
    // Rotates by at most a right angle, so that no signs change when e is already zero.
    double r;
    const auto [c, s] = rotation_of(std::abs(f), f < 0 ? -g : g, r);
    rotations[k] = {static_cast<T>(c), static_cast<T>(s)};
    if (k > 0) e[k - 1] = std::copysign(r, f);
    const double upper = c * d[k] + s * e[k];
    const double over = c * e[k] + s * d[k + 1];
    const double under = c * e[k] - s * d[k];
    const double lower = c * d[k + 1] - s * e[k];
    d[k] = c * upper + s * over;
    d[k + 1] = c * lower - s * under;
    e[k] = f = c * over - s * upper;
    if (k < n - 2) {
      g = s * e[k + 1];
      e[k + 1] *= c;
    }
  }
}

template <class T>
using Rotate = std::function<void(std::int64_t first, std::int64_t count, const Rotation<T>*)>;

// Calls `rotate` for the sweeps that reduce e to zero.
template <class T>
bool diagonalize(std::int64_t n, double* d, double* e, const Rotate<T>& rotate) {
  // The relative size of rounding errors in T, and a far smaller absolute limit, above that of
  // rotation_of().
  constexpr double kSmall = std::numeric_limits<T>::epsilon() / 4.0;
  constexpr double kNegligible = 1e-140;
  constexpr int kMostSteps = 60;
  std::vector<Rotation<T>> rotations(at(n));
  int steps = 0;
  for (std::int64_t end = n; end > 1;) {
    std::int64_t begin = end - 1;
    while (begin > 0 && std::abs(e[begin - 1]) >
                            kSmall * (std::abs(d[begin - 1]) + std::abs(d[begin])) + kNegligible)
      --begin;
    if (begin > 0) e[begin - 1] = 0;
    if (begin == end - 1) {
      --end;
      steps = 0;
      continue;
    }
    if (++steps > kMostSteps) return false;
    step(end - begin, d + begin, e + begin, rotations.data());
    rotate(begin, end - begin - 1, rotations.data());
  }
  return true;
}

// Returns how much larger the second half of a diagonal is than the first. Small eigenvalues keep
// their digits if a reduction or an iteration ends where the diagonal is small.
template <class Diagonal>
double rise(std::int64_t n, Diagonal&& diagonal) {
  double sum = 0;
  for (std::int64_t i = 0; i < n / 2; ++i)
    sum += std::abs(double{diagonal(n - 1 - i)}) - std::abs(double{diagonal(i)});
  return sum;
}

}  // namespace

template <class T>
bool symmetric_eigen(std::int64_t n, const T* a, T* l, T* v) {
  // The reduction begins with the last row.
  const bool reverses = rise(n, [&](std::int64_t i) { return a[i * n + i]; }) < 0;
  Tridiagonal<T> reduced(n, a, reverses);
  double* const d = reduced.diagonal.data();
  double* const e = reduced.off_diagonal.data();
  const bool rises = rise(n, [&](std::int64_t i) { return d[i]; }) > 0;
  if (rises) {
    std::reverse(d, d + n);
    std::reverse(e, e + n - 1);
  }
  if (v == nullptr) {
    if (!diagonalize<T>(n, d, e, [](auto...) {})) return false;
    sort_few(reduced.diagonal);  // cheap next to the n^3 steps above
    std::transform(d, d + n, l, [](double value) { return static_cast<T>(value); });
    return true;
  }
  Rotated<T> vectors(n);
  const std::vector<T> reflections = reduced.reflections();
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      vectors(reverses ? n - 1 - i : i, rises ? n - 1 - j : j) =
          reflections[at(i * reduced.width() + j)];
  const bool ended = diagonalize<T>(
      n, d, e, [&](std::int64_t first, std::int64_t count, const Rotation<T>* rotations) {
        vectors.rotate(first, count, rotations);
      });
  if (!ended) return false;
  const std::vector<std::int64_t> order = rising_order(reduced.diagonal);
  for (std::int64_t j = 0; j < n; ++j) l[j] = static_cast<T>(d[order[at(j)]]);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) v[i * n + j] = vectors(i, order[at(j)]);
  return true;
}

bool hermitian_eigen(ComplexMatrix& a, std::vector<double>& l, ComplexMatrix* v) {
  const std::int64_t n = a.rows;
  // The reduction begins with the first column.
  const bool reverses = rise(n, [&](std::int64_t i) { return a(i, i).real(); }) > 0;
  if (reverses) std::reverse(a.values.begin(), a.values.end());
  ComplexMatrix u;
  to_hessenberg(a, u);
  std::vector<double> off_diagonal(at(n));
  for (std::int64_t i = 0; i < n; ++i) {
    l[at(i)] = a(i, i).real();
    if (i + 1 < n) off_diagonal[at(i)] = a(i + 1, i).real();
  }
  if (v == nullptr) {
    if (!diagonalize<double>(n, l.data(), off_diagonal.data(), [](auto...) {})) return false;
    sort_few(l);
    return true;
  }
  Rotated<double> real(n);
  Rotated<double> imaginary(n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const Complex value = u(i, j);
      real(reverses ? n - 1 - i : i, j) = value.real();
      imaginary(reverses ? n - 1 - i : i, j) = value.imag();
    }
  }
  const bool ended = diagonalize<double>(
      n, l.data(), off_diagonal.data(),
      [&](std::int64_t first, std::int64_t count, const Rotation<double>* rotations) {
        real.rotate(first, count, rotations);
        imaginary.rotate(first, count, rotations);
      });
  if (!ended) return false;
  const std::vector<std::int64_t> order = rising_order(l);
  sort_few(l);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      (*v)(i, j) = Complex(real(i, order[at(j)]), imaginary(i, order[at(j)]));
  return true;
}

template bool symmetric_eigen(std::int64_t, const float*, float*, float*);
template bool symmetric_eigen(std::int64_t, const double*, double*, double*);

}  // namespace eg::cpu
