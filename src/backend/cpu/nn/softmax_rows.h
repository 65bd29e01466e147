#pragma once

// The two numbers that normalize a row of exponentials, and how rows are divided among threads.
//
// With the row's largest element m and s = log(sum(exp(x - m))), the softmax is exp(x - m - s) and
// its logarithm x - m - s; nothing overflows, and large x lose no digits.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backend/cpu/reduce/fold.h"
#include "backend/cpu/vector/inline_words.h"
#include "backend/cpu/vector/vector_loop.h"
#include "kernels/rows.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {

using kernel::Rows;

/// Columns of a [size, inner] block that a task processes together: whole cache lines.
inline constexpr std::int64_t kStripColumns = 64;

/// Calls visit_row(o) for every outer index when inner is 1, else visit_strip(o, begin, end) for
/// strips of columns [begin, end) of every outer index.
template <class VisitRow, class VisitStrip>
void for_each_row(const Rows& rows, VisitRow&& visit_row, VisitStrip&& visit_strip) {
  if (rows.inner == 0) return;
  const std::int64_t width = std::min(rows.inner, kStripColumns);
  const std::int64_t strips = (rows.inner + width - 1) / width;
  const std::int64_t work = std::max<std::int64_t>(1, rows.size * width);
  parallel_for(0, rows.outer * strips, std::max<std::int64_t>(1, kMinElementsPerTask / work),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t task = begin; task < end; ++task) {
                   if (rows.inner == 1) {
                     visit_row(task);
                   } else {
                     const std::int64_t first = task % strips * width;
                     visit_strip(task / strips, first, std::min(first + width, rows.inner));
                   }
                 }
               });
}

/// Returns the largest number of a packed row. NaN is passed over: it makes every result NaN by way
/// of the sum of exponentials.
template <class T>
T largest_of(const T* x, std::int64_t count) {
  // Several maxima hide the latency of comparisons.
  constexpr std::int64_t kMaxima = 4;
  const auto larger = [](auto a, auto b) { return a < b ? b : a; };
  Vecs<T, kMaxima> found;
  for (Vec<T>& v : found.v) v = splat(fold::kSmallest<T>);
  std::int64_t i = 0;
  for (; i + kMaxima * kLanes<T> <= count; i += kMaxima * kLanes<T>) {
#pragma GCC unroll 4
    for (std::int64_t m = 0; m < kMaxima; ++m) {
      const Vec<T> value = WholeCursor<T>{i + m * kLanes<T>, {}}.load(x);
      found.v[m] = larger(found.v[m], value);
    }
  }
  const Vec<T> all = larger(larger(found.v[0], found.v[1]), larger(found.v[2], found.v[3]));
  T result = all[0];
  for (int lane = 1; lane < kLanes<T>; ++lane) result = larger(result, all[lane]);
  for (; i < count; ++i) result = larger(result, x[i]);
  return result;
}

/// exp, inlined for whole vectors of float32: loops over rows spend their time in it.
template <class T, class At>
[[gnu::always_inline]] inline Vec<T> exp_at(At, Vec<T> x) {
  if constexpr (std::is_same_v<At, WholeCursor<float>>)
    return inlined::vec_exp(x);
  else
    return vec_exp(x);
}

/// Returns sum(exp(x - largest)) of a packed row, and calls visit(cursor, exponentials). Each takes
/// longer than an addition, so there is one sum. Blocks are added in double.
template <class T, class Visit>
double sum_exp(const T* x, std::int64_t count, T largest, Visit&& visit) {
  const Vec<T> shift = splat(largest);
  double total = 0;
  for (std::int64_t begin = 0; begin < count; begin += kFoldBlock) {
    Vec<T> sum{};
    for_each_vector<T>(begin, std::min(begin + kFoldBlock, count), [&](auto at) {
      const Vec<T> value = exp_at<T>(at, at.load(x) - shift);
      visit(at, value);
      sum += at.valid(value);
    });
    for (int lane = 0; lane < kLanes<T>; ++lane) total += static_cast<double>(sum[lane]);
  }
  return total;
}

/// Returns log(sum(exp(x - largest))) of a packed row.
template <class T>
T log_sum_exp(const T* x, std::int64_t count, T largest) {
  const double total = sum_exp(x, count, largest, [](auto, Vec<T>) {});
  // std::log has tables, which each page that trains a classifier would download.
  return static_cast<T>(vec_log(splat(total))[0]);
}

/// Returns the largest element of each of the columns at a cursor.
template <class T, class At>
Vec<T> largest_of_columns(At at, const T* x, const Rows& rows) {
  Vec<T> result(splat(fold::kSmallest<T>));
  for (std::int64_t i = 0; i < rows.size; ++i)
    result = vec_maximum(result, at.load(x + i * rows.inner));
  return result;
}
template <class T, class At>
Vec<T> log_sum_exp_columns(At at, const T* x, const Rows& rows, Vec<T> largest) {
  Vec<T> sum{};
  for (std::int64_t i = 0; i < rows.size; ++i)
    sum += vec_exp(at.load(x + i * rows.inner) - largest);
  return vec_log(sum);
}

}  // namespace eg::cpu
