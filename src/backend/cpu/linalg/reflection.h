#pragma once

#include <cmath>

namespace eg::cpu {

/// Below this, beside elements of a few units, a length counts as zero: its square still has all
/// its digits.
template <class T>
inline constexpr T kShortest = sizeof(T) == sizeof(float) ? T(1e-15) : T(1e-150);

/// The reflection 1 - factor v v^T that leaves one element of x alone: v is x with `head` in place
/// of it, and `left` what that element becomes.
struct Reflection {
  double factor = 0;
  double head = 0;
  double left = 0;
};

/// The one for an element and the sum of the squares of all others, which were computed in T. Where
/// these are zero already there is none.
template <class T>
Reflection reflection_of(double rest, double element) {
  if (std::sqrt(rest) < double{kShortest<T>}) return {0, 0, element};
  const double norm = std::copysign(std::sqrt(rest + element * element), element);
  return {1 / (norm * (norm + element)), element + norm, -norm};
}

}  // namespace eg::cpu
