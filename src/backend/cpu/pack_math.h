#pragma once

// The words of the vocabulary on bare vectors: `vec_exp(Vec<float>)` and so on.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

namespace eg::cpu {

/// 16 bytes of T.
template <class T>
using Vec __attribute__((vector_size(16))) = T;

template <class T>
inline constexpr int kLanes = 16 / static_cast<int>(sizeof(T));

namespace detail {

template <class T, class Function>
Vec<T> map_lanes(Vec<T> x, Function function) {
  Vec<T> result;
  for (int i = 0; i < kLanes<T>; ++i) result[i] = static_cast<T>(function(x[i]));
  return result;
}

template <class T, class Function>
Vec<T> map_lanes(Vec<T> a, Vec<T> b, Function function) {
  Vec<T> result;
  for (int i = 0; i < kLanes<T>; ++i) result[i] = static_cast<T>(function(a[i], b[i]));
  return result;
}

}  // namespace detail

}  // namespace eg::cpu
