#pragma once

// Loops over arrays, a vector at a time, for kernels whose operands are all packed.
//
// The body is called with a cursor, which loads from and stores to its position in any array. The
// last vector may be partial: its cursor accesses only existing elements.

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backend/cpu/vector/vec.h"

namespace eg::cpu {

/// A position in arrays of T. `Count` is a compile-time constant for a whole vector and a number
/// for a partial one.
template <class T, class Count>
struct Cursor {
  std::int64_t begin;
  Count count;

  /// Elements past the end are zero.
  Vec<T> load(const T* from) const {
    Vec<T> value{};
    std::memcpy(&value, from + begin, count * sizeof(T));
    return value;
  }
  void store(T* to, Vec<T> value) const { std::memcpy(to + begin, &value, count * sizeof(T)); }

  /// `value` with zeros past the end.
  Vec<T> valid(Vec<T> value) const {
    for (std::size_t i = count; i < kLanes<T>; ++i) value[i] = T{0};
    return value;
  }
};

template <class T>
using WholeCursor = Cursor<T, std::integral_constant<std::size_t, kLanes<T>>>;

/// Calls body(cursor) for vectors that cover [begin, end).
template <class T, class Body>
void for_each_vector(std::int64_t begin, std::int64_t end, Body&& body) {
  for (; begin + kLanes<T> <= end; begin += kLanes<T>) body(WholeCursor<T>{begin, {}});
  if (begin < end) body(Cursor<T, std::size_t>{begin, static_cast<std::size_t>(end - begin)});
}

/// Several vectors. (Not std::array, because GCC drops the vector attribute of a template
/// argument.)
template <class T, std::size_t kCount>
struct Vecs {
  Vec<T> v[kCount];
};

/// Returns the sums of the vectors returned by terms(cursor) over [0, count). Long sums are
/// composed of short ones, added in double, so that rounding errors do not accumulate.
template <class T, std::size_t kTerms, class Terms>
std::array<double, kTerms> sums_of_vectors(std::int64_t count, Terms&& terms) {
  constexpr std::int64_t kBlock = 4096;
  // Several independent sums hide the latency of additions.
  constexpr int kSums = 4;
  std::array<double, kTerms> totals{};
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::int64_t end = begin + kBlock < count ? begin + kBlock : count;
    Vec<T> sums[kSums][kTerms] = {};
    std::int64_t i = begin;
    for (; i + kSums * kLanes<T> <= end; i += kSums * kLanes<T>) {
      // Unrolled; otherwise the sums would be stored in memory.
#pragma GCC unroll 4
      for (int s = 0; s < kSums; ++s) {
        const Vecs<T, kTerms> values = terms(WholeCursor<T>{i + s * kLanes<T>, {}});
        for (std::size_t t = 0; t < kTerms; ++t) sums[s][t] += values.v[t];
      }
    }
    for_each_vector<T>(i, end, [&](auto at) {
      const Vecs<T, kTerms> values = terms(at);
      for (std::size_t t = 0; t < kTerms; ++t) sums[0][t] += at.valid(values.v[t]);
    });
    for (std::size_t t = 0; t < kTerms; ++t) {
      const Vec<T> sum = (sums[0][t] + sums[1][t]) + (sums[2][t] + sums[3][t]);
      for (int lane = 0; lane < kLanes<T>; ++lane) totals[t] += static_cast<double>(sum[lane]);
    }
  }
  return totals;
}

/// Returns the sum of term(cursor) over [0, count), computed in the same way.
template <class T, class Term>
double sum_of_vectors(std::int64_t count, Term&& term) {
  return sums_of_vectors<T, 1>(count, [&](auto at) { return Vecs<T, 1>{{term(at)}}; })[0];
}

}  // namespace eg::cpu
