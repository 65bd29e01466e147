#pragma once

// Distances between the rows of packed float32 matrices, of a batch of such pairs. p is 1, 2 or
// infinity.

#include <cstdint>
#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// The p-norms between `rows` rows of x1 and `columns` rows of x2, packed as [batch, rows,
/// columns].
struct Distances {
  static constexpr std::string_view name = "distances";
  double p;
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t width;
  In x1;
  In x2;
  Out distances;

  void compute_on_cpu() const;
};

/// The gradient of x1, where p is not 2. With the two exchanged, and steps that go across, that of
/// x2.
struct DistancesBackward {
  static constexpr std::string_view name = "distances_backward";
  double p;
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t width;
  std::int64_t row_step;  ///< from distance to distance, between those of rows
  std::int64_t column_step;
  In x1;
  In x2;
  In distances;
  In grad;
  Out grad_x1;

  void compute_on_cpu() const;
};

using DistanceKernels = TypeList<Distances, DistancesBackward>;

}  // namespace eg::kernel
