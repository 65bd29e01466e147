// compile: kernels

#include "backend/cpu/linalg/householder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "backend/cpu/linalg/reflection.h"
#include "backend/cpu/vector/vector_loop.h"
#include "base/checked_int.h"

namespace eg::cpu {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Returns the row at which the SIMD vector containing row k begins.
template <class T>
std::int64_t vector_of(std::int64_t k) {
  return k / kLanes<T> * kLanes<T>;
}

// Applies 1 - factor v v^T to `kCount` columns; `count` is rounded up to whole vectors.
template <int kCount, class T>
void reflect_few(std::int64_t count, const T* v, T factor, T* columns, std::int64_t height) {
  Vec<T> sums[kCount] = {};
  for_each_vector<T>(0, count, [&](auto c) {
    const Vec<T> own = c.load(v);
#pragma GCC unroll 4
    for (int j = 0; j < kCount; ++j) sums[j] += own * c.load(columns + j * height);
  });
  T by[kCount];
  for (int j = 0; j < kCount; ++j) {
    T sum = 0;
    for (int lane = 0; lane < kLanes<T>; ++lane) sum += sums[j][lane];
    by[j] = factor * sum;
  }
  for_each_vector<T>(0, count, [&](auto c) {
    const Vec<T> own = c.load(v);
#pragma GCC unroll 4
    for (int j = 0; j < kCount; ++j) {
      T* const column = columns + j * height;
      c.store(column, c.load(column) - own * by[j]);
    }
  });
}

// Applies a reflection of the rows from `row` on to the columns from `first` on.
template <class T>
void reflect(std::int64_t row, const T* v, T factor, Columns<T>& x, std::int64_t first) {
  if (factor == 0) return;
  constexpr int kTogether = 4;
  const std::int64_t count = x.height() - row;
  for (; first + kTogether <= x.columns(); first += kTogether)
    reflect_few<kTogether>(count, v, factor, x.column(first) + row, x.height());
  for (; first < x.columns(); ++first)
    reflect_few<1>(count, v, factor, x.column(first) + row, x.height());
}

}  // namespace

template <class T>
Columns<T>::Columns(std::int64_t rows, std::int64_t columns)
    : rows_(rows),
      columns_(columns),
      height_(vector_of<T>(rows + kLanes<T> - 1)),
      values_(checked_count((CheckedInt(columns) * height_).value())) {}

template <class T>
Householder<T>::Householder(Columns<T> a)
    : a_(std::move(a)),
      heads_(checked_count(std::min(a_.rows(), a_.columns()))),
      factors_(heads_.size()) {
  std::vector<T> v(at(a_.height()));
  for (std::int64_t k = 0; k < std::ssize(heads_); ++k) {
    T* const column = a_.column(k) + k;
    const auto squares_below = [&] {
      const T* const below = load(k, v);
      return double{sum_of_vectors<T>(a_.height() - vector_of<T>(k),
                                      [&](auto c) { return c.load(below) * c.load(below); })};
    };
    double rest = squares_below();
    const double by = lengthen(a_.height() - k, column, rest + double{*column} * double{*column});
    if (by != 1) rest = squares_below();
    const Reflection reflection = reflection_of(rest, double{*column});
    *column = static_cast<T>(reflection.left / by);
    heads_[at(k)] = static_cast<T>(reflection.head);
    factors_[at(k)] = static_cast<T>(reflection.factor);
    reflect(vector_of<T>(k), load(k, v), factors_[at(k)], a_, k + 1);
  }
}

// Loads reflection k, starting at the SIMD vector that contains row k.
template <class T>
const T* Householder<T>::load(std::int64_t k, std::vector<T>& v) const {
  const std::int64_t from = vector_of<T>(k);
  std::fill_n(v.begin(), k - from, T{0});
  v[at(k - from)] = heads_[at(k)];
  std::copy(a_.column(k) + k + 1, a_.column(k) + a_.height(), v.data() + (k - from) + 1);
  return v.data();
}

template <class T>
void Householder<T>::apply(Columns<T>& x, bool is_identity) const {
  std::vector<T> v(at(a_.height()));
  for (std::int64_t k = std::ssize(heads_) - 1; k >= 0; --k)
    reflect(vector_of<T>(k), load(k, v), factors_[at(k)], x, is_identity ? k : 0);
}

template class Columns<float>;
template class Columns<double>;
template class Householder<float>;
template class Householder<double>;

}  // namespace eg::cpu
