// Products with sparse matrices. Results never depend on the number of threads: tasks divide the
// result, and every element is a sum in the order of the sparse matrix's values.

#include "kernels/sparse.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>

#include "backend/cpu/matrix/sparse_matrix.h"
#include "backend/cpu/vector/vector_loop.h"
#include "base/error.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

template <class T>
inline constexpr bool kHasVectors = std::is_floating_point_v<T>;

// to[begin, end) += factor * from[begin, end).
template <class T>
void add_scaled(T* to, T factor, const T* from, std::int64_t begin, std::int64_t end) {
  if constexpr (kHasVectors<T>) {
    const Vec<T> factors = splat(factor);
    for_each_vector<T>(begin, end,
                       [&](auto at) { at.store(to, at.load(to) + factors * at.load(from)); });
  } else {
    for (std::int64_t i = begin; i < end; ++i) to[i] += factor * from[i];
  }
}

// Row `row` of the product in columns [begin, begin + kVectors * lanes), summed in registers.
template <class T, std::size_t kVectors>
void sum_row(const Csr& a, std::int64_t row, const T* values, const T* dense, std::int64_t width,
             std::int64_t begin, T* out) {
  Vec<T> sums[kVectors] = {};
  for (std::int64_t k = a.starts[row]; k < a.starts[row + 1]; ++k) {
    const Vec<T> factor = splat(values[k]);
    const T* const from = dense + a.column[k] * width + begin;
    for (std::size_t v = 0; v < kVectors; ++v)
      sums[v] += factor * WholeCursor<T>{static_cast<std::int64_t>(v * kLanes<T>), {}}.load(from);
  }
  std::memcpy(out + row * width + begin, sums, sizeof sums);
}

template <class T>
void multiply_row(const Csr& a, std::int64_t row, const T* values, const T* dense,
                  std::int64_t width, T* out) {
  std::int64_t begin = 0;
  if constexpr (kHasVectors<T>) {
    constexpr std::int64_t kLane = kLanes<T>;
    for (; begin + 4 * kLane <= width; begin += 4 * kLane)
      sum_row<T, 4>(a, row, values, dense, width, begin, out);
    for (; begin + kLane <= width; begin += kLane)
      sum_row<T, 1>(a, row, values, dense, width, begin, out);
  }
  T* const own = out + row * width;
  for (std::int64_t i = begin; i < width; ++i) {
    T sum{};
    for (std::int64_t k = a.starts[row]; k < a.starts[row + 1]; ++k)
      sum += values[k] * dense[a.column[k] * width + i];
    own[i] = sum;
  }
}

template <class T>
void multiply(const kernel::CsrProduct& call) {
  const Csr a(call.pattern);
  const T* const values = call.values.as<T>();
  const T* const dense = call.dense.as<T>();
  T* const out = call.product.as<T>();
  const std::int64_t width = call.width;
  if (!call.transposed) {
    parallel_for(0, a.rows, a.rows_per_task(width), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        multiply_row(a, row, values, dense, width, out);
    });
    return;
  }
  // A task has all rows of some columns, because a value may add to any row.
  constexpr std::int64_t kColumns = 16;
  parallel_for(0, (width + kColumns - 1) / kColumns, items_per_task(a.starts[a.rows] * kColumns),
               [&](std::int64_t first, std::int64_t last) {
                 const std::int64_t end = std::min(last * kColumns, width);
                 for (std::int64_t row = 0; row < a.rows; ++row) {
                   for (std::int64_t k = a.starts[row]; k < a.starts[row + 1]; ++k)
                     add_scaled(out + a.column[k] * width, values[k], dense + row * width,
                                first * kColumns, end);
                 }
               });
}

template <class T>
T dot(const T* a, const T* b, std::int64_t count) {
  if constexpr (kHasVectors<T>) {
    return static_cast<T>(
        sum_of_vectors<T>(count, [&](auto at) { return at.load(a) * at.load(b); }));
  } else {
    T sum{};
    for (std::int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
    return sum;
  }
}

template <class T>
void sample(const kernel::SampledProduct& call) {
  const Csr a(call.pattern);
  const T* const left = call.left.as<T>();
  const T* const right = call.right.as<T>();
  T* const out = call.samples.as<T>();
  const std::int64_t width = call.width;
  parallel_for(0, a.rows, a.rows_per_task(width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t k = a.starts[row]; k < a.starts[row + 1]; ++k)
        out[k] = dot(left + row * width, right + a.column[k] * width, width);
    }
  });
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void CsrProduct::compute_on_cpu() const {
  cpu::visit_fractional(values.dtype(), [&]<class T>() { cpu::multiply<T>(*this); });
}

void SampledProduct::compute_on_cpu() const {
  cpu::visit_fractional(left.dtype(), [&]<class T>() { cpu::sample<T>(*this); });
}

}  // namespace eg::kernel
