#include "backend/cpu/matrix/gemm/gemv.h"

#include <algorithm>
#include <array>

#include "backend/cpu/matrix/gemm/scratch.h"
#include "backend/cpu/matrix/gemm/vector.h"
#include "base/divide_up.h"
#include "runtime/thread_pool.h"

namespace eg::gemm {
namespace {

// Columns of y that a thread processes at a time: they stay in L1 while rows of B are streamed.
constexpr std::int64_t kColumnBlock = 1024;
// Rows of B that are added together, so that y is loaded and stored less often; also the most
// columns that are multiplied together.
constexpr int kStreams = 4;

// A smaller B is likely to be in a cache since it was used before.
constexpr std::int64_t kMostBytesInCache = 2 << 20;
constexpr std::int64_t kMostParts = 16;
constexpr std::int64_t kMinRowsPerPart = 64;

/// Adds x[p] * row p of B to y, for contiguous rows.
template <class T, int Rows>
void add_rows(T* y, std::int64_t count, const T* x, const T* b, std::int64_t row_stride) {
  Vector<T> factor[Rows];
  for (int p = 0; p < Rows; ++p) factor[p] = splat(x[p]);
  std::int64_t j = 0;
  for (; j + kLanes<T> <= count; j += kLanes<T>) {
    Vector<T> sum = load(y + j);
    EG_GEMM_UNROLL
    for (int p = 0; p < Rows; ++p) sum = multiply_add(factor[p], load(b + p * row_stride + j), sum);
    store(y + j, sum);
  }
  for (; j < count; ++j) {
    T sum = y[j];
    for (int p = 0; p < Rows; ++p) sum += x[p] * b[p * row_stride + j];
    y[j] = sum;
  }
}

template <class T>
void add_all_rows(T* y, std::int64_t count, const T* x, std::int64_t k, const T* b,
                  std::int64_t row_stride) {
  std::fill_n(y, count, T{0});
  std::int64_t p = 0;
  for (; p + kStreams <= k; p += kStreams) {
    add_rows<T, kStreams>(y, count, x + p, b + p * row_stride, row_stride);
  }
  for (; p < k; ++p) add_rows<T, 1>(y, count, x + p, b + p * row_stride, row_stride);
}

template <class T>
T sum_of_lanes(Vector<T> value) {
  T sum = value[0];
  for (int lane = 1; lane < kLanes<T>; ++lane) sum += value[lane];
  return sum;
}

/// Computes the products of x with `Columns` contiguous columns of B.
template <class T, int Columns>
void dot_columns(T* y, const T* x, std::int64_t k, const T* b, std::int64_t column_stride) {
  // Several sums, because an addition has to wait for the one before it.
  constexpr int kSums = Columns == 1 ? 4 : 2;
  Vector<T> sum[Columns][kSums] = {};
  std::int64_t p = 0;
  for (; p + kSums * kLanes<T> <= k; p += kSums * kLanes<T>) {
    EG_GEMM_UNROLL
    for (int i = 0; i < kSums; ++i) {
      const std::int64_t at = p + i * kLanes<T>;
      const Vector<T> own = load(x + at);
      EG_GEMM_UNROLL
      for (int j = 0; j < Columns; ++j)
        sum[j][i] = multiply_add(own, load(b + j * column_stride + at), sum[j][i]);
    }
  }
  EG_GEMM_UNROLL
  for (int j = 0; j < Columns; ++j) {
    Vector<T> all = sum[j][0] + sum[j][1];
    if constexpr (kSums == 4) all += sum[j][2] + sum[j][3];
    T total = sum_of_lanes<T>(all);
    for (std::int64_t q = p; q < k; ++q) total += x[q] * b[j * column_stride + q];
    y[j] = total;
  }
}

// A function of its own, so that pages that train small models need not download it first.
template <class T>
[[gnu::noinline]] std::int64_t dot_long_columns(T* y, std::int64_t count, const T* x,
                                                std::int64_t k, const T* b,
                                                std::int64_t column_stride) {
  std::int64_t j = 0;
  for (; j + kStreams <= count; j += kStreams)
    dot_columns<T, kStreams>(y + j, x, k, b + j * column_stride, column_stride);
  return j;
}

template <class T>
void dot_all_columns(T* y, std::int64_t count, const T* x, std::int64_t k, const T* b,
                     std::int64_t column_stride) {
  const bool is_long = k * std::int64_t{sizeof(T)} > kLongVector;
  std::int64_t j = is_long ? dot_long_columns(y, count, x, k, b, column_stride) : 0;
  for (; j < count; ++j) dot_columns<T, 1>(y + j, x, k, b + j * column_stride, column_stride);
}

template <class T>
void dot_strided(T* y, std::int64_t count, const T* x, std::int64_t k, const Matrix<T>& b) {
  for (std::int64_t j = 0; j < count; ++j) {
    T sum{0};
    for (std::int64_t p = 0; p < k; ++p) {
      sum += x[p] * b.data[p * b.row_stride + j * b.column_stride];
    }
    y[j] = sum;
  }
}

template <class T>
void update(const VectorProduct<T>& product, const T* y, std::int64_t begin, std::int64_t end) {
  for (std::int64_t j = begin; j < end; ++j) {
    T& to = product.out[j * product.out_stride];
    T value = product.alpha * y[j - begin];
    if (product.beta != T{0}) value += product.beta * to;
    if (product.bias) value += product.bias[j * product.bias_stride];
    to = value;
  }
}

/// Computes columns [begin, end) of the product for contiguous x.
template <class T>
void multiply_columns(const VectorProduct<T>& product, const T* x, std::int64_t begin,
                      std::int64_t end) {
  std::array<T, kColumnBlock> y;
  for (std::int64_t from = begin; from < end; from += kColumnBlock) {
    const std::int64_t count = std::min(kColumnBlock, end - from);
    Matrix<T> b = product.b;
    b.data += from * b.column_stride;
    if (b.column_stride == 1) {
      add_all_rows(y.data(), count, x, product.k, b.data, b.row_stride);
    } else if (b.row_stride == 1) {
      dot_all_columns(y.data(), count, x, product.k, b.data, b.column_stride);
    } else {
      dot_strided(y.data(), count, x, product.k, b);
    }
    update(product, y.data(), from, from + count);
  }
}

/// Computes the product for contiguous rows of a B that no cache holds: parts of its rows are added
/// one row after the other, so that memory is read in order. Like dot_long_columns(), not inlined
/// for the sake of small models.
template <class T>
[[gnu::noinline]] void multiply_in_order(const VectorProduct<T>& product, const T* x) {
  const std::int64_t n = product.n;
  const std::int64_t k = product.k;
  const Matrix<T>& b = product.b;
  constexpr std::int64_t kLength = kLongVector / std::int64_t{sizeof(T)};
  // Parts depend on the shape alone, so that the rounding does not depend on the number of threads.
  const std::int64_t rows = std::max(divide_up(k, kMostParts), kMinRowsPerPart);
  const std::int64_t parts = divide_up(k, rows);
  Scratch scratch;
  T* const sums = scratch.take<T>(parts * n);
  parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
    std::fill(sums + begin * n, sums + end * n, T{0});
    for (std::int64_t part = begin; part < end; ++part) {
      const std::int64_t last = std::min((part + 1) * rows, k);
      for (std::int64_t from = 0; from < n; from += kLength) {
        const std::int64_t count = std::min(kLength, n - from);
        for (std::int64_t p = part * rows; p < last; ++p) {
          add_rows<T, 1>(sums + part * n + from, count, x + p, b.data + p * b.row_stride + from,
                         b.row_stride);
        }
      }
    }
  });
  for (std::int64_t part = 1; part < parts; ++part)
    for (std::int64_t j = 0; j < n; ++j) sums[j] += sums[part * n + j];
  update(product, sums, 0, n);
}

}  // namespace

template <class T>
void multiply(const VectorProduct<T>& product) {
  const T* x = product.x;
  if (product.x_stride != 1) {
    T* const copy = thread_scratch().take<T>(product.k);
    for (std::int64_t p = 0; p < product.k; ++p) copy[p] = x[p * product.x_stride];
    x = copy;
  }
  if (product.b.column_stride == 1 &&
      product.n * product.k * std::int64_t{sizeof(T)} > kMostBytesInCache) {
    multiply_in_order(product, x);
    return;
  }
  // Ranges start at a multiple of kStreams, so that the grouping of columns, and thus the rounding,
  // does not depend on the number of threads.
  const std::int64_t groups = (product.n + kStreams - 1) / kStreams;
  const std::int64_t work = kStreams * product.k;
  const std::int64_t grain = (4 * kMinElementsPerTask + work - 1) / work;
  parallel_for(0, groups, grain, [&](std::int64_t begin, std::int64_t end) {
    multiply_columns(product, x, begin * kStreams, std::min(end * kStreams, product.n));
  });
}

template void multiply(const VectorProduct<float>&);
template void multiply(const VectorProduct<double>&);

}  // namespace eg::gemm
