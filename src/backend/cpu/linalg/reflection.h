#pragma once

#include <cmath>

namespace eg::cpu {

/// A length below this counts as zero where elements are of order one. The square of this length is
/// still a normal number.
template <class T>
inline constexpr T kShortest = sizeof(T) == sizeof(float) ? T(1e-15) : T(1e-150);

/// The reflection 1 - factor v v^T that zeroes all elements of x but one. v is x with `head` in
/// place of that element, and `left` is the new value of the element.
struct Reflection {
  double factor = 0;
  double head = 0;
  double left = 0;
};

/// Returns the reflection for an element and the sum of the squares of all others, which were
/// computed in T. If the others are already zero, returns the identity (factor 0).
template <class T>
Reflection reflection_of(double rest, double element) {
  if (std::sqrt(rest) < double{kShortest<T>}) return {0, 0, element};
  const double norm = std::copysign(std::sqrt(rest + element * element), element);
  return {1 / (norm * (norm + element)), element + norm, -norm};
}

}  // namespace eg::cpu
