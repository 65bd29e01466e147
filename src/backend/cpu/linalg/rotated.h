#pragma once

// Sweeps of rotations of adjacent columns, which take most of the time of QR iterations.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "backend/cpu/vector/vec.h"
#include "base/checked_int.h"

namespace eg::cpu {

template <class T>
struct Rotation {
  T c;
  T s;
};

/// Returns the rotation that maps (f, g) to (r, 0). If their squares underflow, that is (f, 0).
inline Rotation<double> rotation_of(double f, double g, double& r) {
  // The square of this is still a normal number.
  constexpr double kShortest = 1e-150;
  const double norm = std::sqrt(f * f + g * g);
  if (g == 0 || norm < kShortest) {
    r = f;
    return {1, 0};
  }
  r = norm;
  return {f / norm, g / norm};
}

/// A matrix whose columns are rotated. It is stored in panels of rows, so that a sweep of rotations
/// keeps the column shared by two consecutive rotations in registers.
template <class T>
class Rotated {
 public:
  explicit Rotated(std::int64_t n)
      : n_(n), panels_(checked_count((CheckedInt((n + kRows - 1) / kRows * kRows) * n).value())) {}

  T& operator()(std::int64_t row, std::int64_t column) {
    return panels_[static_cast<std::size_t>((row / kRows * n_ + column) * kRows + row % kRows)];
  }

  /// Rotates column `first` with the next one, that one with the one after it, and so on.
  void rotate(std::int64_t first, std::int64_t count, const Rotation<T>* rotations) {
    for (std::int64_t row = 0; row < n_; row += kRows) {
      T* column = &(*this)(row, first);
      Vec<T> carried[kVectors];
      std::memcpy(carried, column, sizeof carried);
      for (std::int64_t k = 0; k < count; ++k, column += kRows) {
        const auto [c, s] = rotations[k];
        Vec<T> next[kVectors];
        std::memcpy(next, column + kRows, sizeof next);
#pragma GCC unroll 8
        for (int i = 0; i < kVectors; ++i) {
          const Vec<T> done = carried[i] * c + next[i] * s;
          carried[i] = next[i] * c - carried[i] * s;
          std::memcpy(column + i * kLanes<T>, &done, sizeof done);
        }
      }
      std::memcpy(column, carried, sizeof carried);
    }
  }

 private:
  static constexpr int kVectors = 4;
  static constexpr std::int64_t kRows = kVectors * kLanes<T>;

  std::int64_t n_;
  std::vector<T> panels_;
};

}  // namespace eg::cpu
