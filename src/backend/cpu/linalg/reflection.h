#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "backend/cpu/vector/vector_loop.h"

namespace eg::cpu {

/// If a vector is so short that the squares of its elements lose digits, multiplies it by a power
/// of two, so that its largest element is of order one. Returns that power, or 1. `squares` is the
/// sum of the squares.
template <class T>
double lengthen(std::int64_t count, T* x, double squares) {
  constexpr double kShortest = sizeof(T) == sizeof(float) ? 1e-15 : 1e-140;
  if (squares >= kShortest * kShortest) return 1;
  double greatest = 0;
  for (std::int64_t i = 0; i < count; ++i) greatest = std::max(greatest, std::abs(double{x[i]}));
  if (greatest == 0) return 1;
  constexpr int kMost = 1000;  // further powers overflow where numbers are not normal
  const double by = std::exp2(std::min(-std::ilogb(greatest), kMost));
  for (std::int64_t i = 0; i < count; ++i) x[i] = static_cast<T>(x[i] * by);
  return by;
}

/// The reflection 1 - factor v v^T that zeroes all elements of x but one. v is x with `head` in
/// place of that element, and `left` is the new value of the element.
struct Reflection {
  double factor = 0;
  double head = 0;
  double left = 0;
};

/// Returns the reflection for an element and the sum of the squares of all others. If the others
/// are already zero, returns the identity (factor 0).
inline Reflection reflection_of(double rest, double element) {
  if (rest == 0) return {0, 0, element};
  const double norm = std::copysign(std::sqrt(rest + element * element), element);
  return {1 / (norm * (norm + element)), element + norm, -norm};
}

/// Replaces x by the v of the reflection that zeroes all of its elements but x[kept].
template <class T>
Reflection reflect_all_but(std::int64_t kept, std::int64_t count, T* x) {
  const T element = std::exchange(x[kept], T{0});
  const double rest = sum_of_vectors<T>(count, [&](auto c) { return c.load(x) * c.load(x); });
  x[kept] = element;
  const double by = lengthen(count, x, rest + double{element} * double{element});
  if (by != 1) {
    Reflection longer = reflect_all_but(kept, count, x);
    longer.left /= by;
    return longer;
  }
  const Reflection reflection = reflection_of(rest, element);
  x[kept] = static_cast<T>(reflection.head);
  return reflection;
}

}  // namespace eg::cpu
