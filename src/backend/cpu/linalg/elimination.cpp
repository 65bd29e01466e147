// compile: kernels

#include "backend/cpu/linalg/elimination.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "backend/cpu/vector/vec.h"
#include "base/checked_int.h"

namespace eg::cpu {
namespace {

// Up to this many rows are solved one by one.
constexpr std::int64_t kRowsAtOnce = 16;
// Up to this many columns are eliminated one by one.
constexpr std::int64_t kColumnsAtOnce = 8;
// Rows of a symmetric factor that are computed together.
constexpr std::int64_t kSymmetricRows = 32;
// A square tile whose rows and columns all stay in the L1 cache.
constexpr std::int64_t kTile = 16;

template <class T>
gemm::Matrix<T> part(const gemm::Matrix<T>& a, std::int64_t row, std::int64_t column) {
  return {a.data + row * a.row_stride + column * a.column_stride, a.row_stride, a.column_stride};
}

// Returns about half of `count`, as a multiple of `group`.
std::int64_t half(std::int64_t count, std::int64_t group) {
  return (count / group + 1) / 2 * group;
}

// Reads a scalar or a vector.
template <class V, class T>
V read(const T* from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class V, class T>
V scaled(T factor, V value) {
  return factor * value;
}
Complex scaled(Complex factor, Complex value) { return times(factor, value); }

// The size by which pivots are chosen. For complex numbers it is LAPACK's: the sum of both parts.
template <class T>
T size_of(T value) {
  return std::abs(value);
}
double size_of(Complex value) { return std::abs(value.real()) + std::abs(value.imag()); }

// C -= A B.
template <class T>
void subtract_product(std::int64_t m, std::int64_t n, std::int64_t k, gemm::Matrix<T> a,
                      gemm::Matrix<T> b, T* c, std::int64_t row_stride) {
  gemm::gemm<T>(m, n, k, -1, a, b, 1, c, row_stride);
}

// The real or imaginary parts of a matrix.
gemm::Matrix<double> parts_of(gemm::Matrix<Complex> a, std::int64_t part) {
  return {reinterpret_cast<const double*>(a.data) + part, 2 * a.row_stride, 2 * a.column_stride};
}

void subtract_product(std::int64_t m, std::int64_t n, std::int64_t k, gemm::Matrix<Complex> a,
                      gemm::Matrix<Complex> b, Complex* c, std::int64_t row_stride) {
  std::vector<double> re(checked_count((CheckedInt(m) * n).value()));
  std::vector<double> im(re.size());
  const auto add_product = [&](std::vector<double>& to, double alpha, std::int64_t part_of_a,
                               std::int64_t part_of_b, double beta) {
    gemm::gemm<double>(m, n, k, alpha, parts_of(a, part_of_a), parts_of(b, part_of_b), beta,
                       to.data(), n);
  };
  add_product(re, 1, 0, 0, 0);
  add_product(re, -1, 1, 1, 1);
  add_product(im, 1, 0, 1, 0);
  add_product(im, 1, 1, 0, 1);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(i * n + j);
      c[i * row_stride + j] -= Complex(re[at], im[at]);
    }
  }
}

// Subtracts rows [first, last) of x, multiplied by their factors, from `sums`: `kCount` scalars or
// vectors starting at the address of the row.
template <class V, int kCount, class T>
void subtract_rows(V (&sums)[kCount], const T* factors, std::int64_t factor_stride, const T* x,
                   std::int64_t row_stride, std::int64_t first, std::int64_t last) {
  for (std::int64_t j = first; j < last; ++j) {
    const T factor = factors[j * factor_stride];
    const T* const row = x + j * row_stride;
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v)
      sums[v] -= scaled(factor, read<V>(row + v * static_cast<int>(sizeof(V) / sizeof(T))));
  }
}

// Solves for as many columns as fill `kCount` scalars or vectors.
template <class V, int kCount, class T>
void substitute_few(const Triangle<T>& a, T* x, std::int64_t row_stride) {
  for (std::int64_t step = 0; step < a.n; ++step) {
    const std::int64_t i = a.upper ? a.n - 1 - step : step;
    const T* const factors = a.matrix.data + i * a.matrix.row_stride;
    T* const row = x + i * row_stride;
    V sums[kCount];
    std::memcpy(sums, row, sizeof sums);
    subtract_rows(sums, factors, a.matrix.column_stride, x, row_stride, a.upper ? i + 1 : 0,
                  a.upper ? a.n : i);
    if (!a.unit)
      for (V& sum : sums) sum /= factors[i * a.matrix.column_stride];
    std::memcpy(row, sums, sizeof sums);
  }
}

template <class T>
void substitute_rows(const Triangle<T>& a, std::int64_t columns, T* x, std::int64_t row_stride) {
  std::int64_t j = 0;
  if constexpr (std::is_floating_point_v<T>) {
    constexpr int kVectors = 4;
    constexpr std::int64_t kLanesOfT = kLanes<T>;
    for (; j + kVectors * kLanesOfT <= columns; j += kVectors * kLanesOfT)
      substitute_few<Vec<T>, kVectors>(a, x + j, row_stride);
    for (; j + kLanesOfT <= columns; j += kLanesOfT)
      substitute_few<Vec<T>, 1>(a, x + j, row_stride);
  }
  for (; j < columns; ++j) substitute_few<T, 1>(a, x + j, row_stride);
}

// to[j][i] = from[i][j] for j <= i where `lower`, else for j >= i.
template <class T>
void transpose_triangle(std::int64_t n, const T* from, std::int64_t from_stride, T* to,
                        std::int64_t to_stride, bool lower) {
  for (std::int64_t row = 0; row < n; row += kTile) {
    const std::int64_t row_end = std::min(n, row + kTile);
    const std::int64_t last = lower ? row_end : n;
    for (std::int64_t column = lower ? 0 : row; column < last; column += kTile) {
      const std::int64_t column_end = std::min(n, column + kTile);
      for (std::int64_t i = row; i < row_end; ++i) {
        const std::int64_t begin = lower ? column : std::max(i, column);
        const std::int64_t end = lower ? std::min(i + 1, column_end) : column_end;
        for (std::int64_t j = begin; j < end; ++j)
          to[j * to_stride + i] = from[i * from_stride + j];
      }
    }
  }
}

// Computes the upper factor of a few rows in place. Rows are padded to whole vectors; anything may
// be written below the diagonal.
template <class T>
std::int64_t factorize_rows(std::int64_t n, T* u, std::int64_t row_stride) {
  for (std::int64_t i = 0; i < n; ++i) {
    T* const row = u + i * row_stride;
    const std::int64_t begin = i / kLanes<T> * kLanes<T>;
    for (std::int64_t j = begin; j < n; j += kLanes<T>) {
      Vec<T> sum[1] = {read<Vec<T>>(row + j)};
      subtract_rows(sum, u + i, row_stride, u + j, row_stride, 0, i);
      std::memcpy(row + j, sum, sizeof sum);
    }
    const T pivot = row[i];
    if (!(pivot > 0)) return i + 1;
    const T root = std::sqrt(pivot);
    for (std::int64_t j = begin; j < n; j += kLanes<T>) {
      const Vec<T> scaled = read<Vec<T>>(row + j) / root;
      std::memcpy(row + j, &scaled, sizeof scaled);
    }
  }
  return 0;
}

// Gaussian elimination with partial pivoting.
template <class T>
class Elimination {
 public:
  Elimination(std::int64_t rows, std::int64_t columns, T* a, std::int64_t* pivots)
      : rows_(rows), columns_(columns), a_(a), pivots_(pivots) {}

  std::int64_t run() {
    const std::int64_t count = std::min(rows_, columns_);
    eliminate(0, count);
    solve_right_of(0, count, columns_ - count);
    return bad_;
  }

 private:
  // Eliminates columns [first, first + count), whose rows from `first` on are up to date.
  void eliminate(std::int64_t first, std::int64_t count) {
    if (count <= kColumnsAtOnce) {
      for (std::int64_t k = first; k < first + count; ++k) eliminate_column(k, first + count);
      return;
    }
    const std::int64_t left = half(count, kColumnsAtOnce);
    const std::int64_t right = count - left;
    const std::int64_t next = first + left;
    eliminate(first, left);
    solve_right_of(first, left, right);
    subtract_product(rows_ - next, right, left, gemm::Matrix<T>{at(next, first), columns_, 1},
                     gemm::Matrix<T>{at(first, next), columns_, 1}, at(next, next), columns_);
    eliminate(next, right);
  }

  // Multiplies the part to the right of l by l^-1.
  void solve_right_of(std::int64_t first, std::int64_t count, std::int64_t columns) {
    if (columns == 0) return;
    substitute<T>({count, {at(first, first), columns_, 1}, false, true}, columns,
                  at(first, first + count), columns_);
  }

  void eliminate_column(std::int64_t k, std::int64_t end) {
    std::int64_t best = k;
    // NaN is selected as the pivot, so that it propagates to everything that follows.
    for (std::int64_t i = k + 1; i < rows_; ++i)
      if (const auto size = size_of(*at(i, k)); size > size_of(*at(best, k)) || std::isnan(size))
        best = i;
    pivots_[k] = best + 1;
    if (best != k) std::swap_ranges(at(k, 0), at(k, 0) + columns_, at(best, 0));
    const T pivot = *at(k, k);
    if (pivot == T{0}) {
      if (bad_ == 0) bad_ = k + 1;
      return;
    }
    const T* const from = at(k, 0);
    for (std::int64_t i = k + 1; i < rows_; ++i) {
      T* const row = at(i, 0);
      const T factor = row[k] /= pivot;
      for (std::int64_t j = k + 1; j < end; ++j) row[j] -= scaled(factor, from[j]);
    }
  }

  T* at(std::int64_t row, std::int64_t column) const { return a_ + row * columns_ + column; }

  std::int64_t rows_;
  std::int64_t columns_;
  T* a_;
  std::int64_t* pivots_;
  std::int64_t bad_ = 0;
};

}  // namespace

template <class T>
void substitute(const Triangle<T>& a, std::int64_t columns, T* x, std::int64_t row_stride) {
  if (a.n <= kRowsAtOnce) return substitute_rows(a, columns, x, row_stride);
  const std::int64_t top = half(a.n, kRowsAtOnce);
  const std::int64_t bottom = a.n - top;
  const Triangle<T> first{top, a.matrix, a.upper, a.unit};
  const Triangle<T> second{bottom, part(a.matrix, top, top), a.upper, a.unit};
  T* const lower_x = x + top * row_stride;
  if (a.upper) {
    substitute(second, columns, lower_x, row_stride);
    subtract_product(top, columns, bottom, part(a.matrix, 0, top),
                     gemm::Matrix<T>{lower_x, row_stride, 1}, x, row_stride);
    substitute(first, columns, x, row_stride);
  } else {
    substitute(first, columns, x, row_stride);
    subtract_product(bottom, columns, top, part(a.matrix, top, 0),
                     gemm::Matrix<T>{x, row_stride, 1}, lower_x, row_stride);
    substitute(second, columns, lower_x, row_stride);
  }
}

template <class T>
std::int64_t eliminate(std::int64_t rows, std::int64_t columns, T* a, std::int64_t* pivots) {
  return Elimination<T>(rows, columns, a, pivots).run();
}

template <class T>
std::int64_t cholesky(std::int64_t n, const T* a, T* l) {
  // Computes the upper factor, whose rows are long where those of the lower one are short. Rows are
  // padded to whole vectors.
  const std::int64_t width = (n + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
  std::vector<T> upper(checked_count((CheckedInt(n) * width).value()));
  T* const u = upper.data();
  transpose_triangle(n, a, n, u, width, true);
  for (std::int64_t k = 0; k < n; k += kSymmetricRows) {
    const std::int64_t rows = std::min(kSymmetricRows, n - k);
    T* const block = u + k * width + k;
    gemm::gemm<T>(rows, width - k, k, -1, {u + k, 1, width}, {u + k, width, 1}, 1, block, width);
    const std::int64_t bad = factorize_rows(rows, block, width);
    if (bad > 0) return k + bad;
    if (k + rows < n)
      substitute<T>({rows, {block, 1, width}, false, false}, width - k - rows, block + rows, width);
  }
  std::fill_n(l, n * n, T{0});
  transpose_triangle(n, u, width, l, n, false);
  return 0;
}

// Plain loops: large complex matrices are rarely factorised this way.
template <>
std::int64_t cholesky(std::int64_t n, const Complex* a, Complex* l) {
  std::fill_n(l, n * n, Complex());
  for (std::int64_t i = 0; i < n; ++i) {
    Complex* const row = l + i * n;
    for (std::int64_t j = 0; j <= i; ++j) {
      const Complex* const other = l + j * n;
      Complex sum = a[i * n + j];
      for (std::int64_t k = 0; k < j; ++k) sum -= times(row[k], std::conj(other[k]));
      if (j < i) {
        row[j] = sum / other[j].real();
      } else if (sum.real() > 0) {
        row[i] = std::sqrt(sum.real());
      } else {
        return i + 1;
      }
    }
  }
  return 0;
}

template void substitute(const Triangle<float>&, std::int64_t, float*, std::int64_t);
template void substitute(const Triangle<double>&, std::int64_t, double*, std::int64_t);
template void substitute(const Triangle<Complex>&, std::int64_t, Complex*, std::int64_t);
template std::int64_t eliminate(std::int64_t, std::int64_t, float*, std::int64_t*);
template std::int64_t eliminate(std::int64_t, std::int64_t, double*, std::int64_t*);
template std::int64_t eliminate(std::int64_t, std::int64_t, Complex*, std::int64_t*);
template std::int64_t cholesky(std::int64_t, const float*, float*);
template std::int64_t cholesky(std::int64_t, const double*, double*);

}  // namespace eg::cpu
