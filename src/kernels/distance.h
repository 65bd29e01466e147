#pragma once

// Distances between the rows of two packed float32 matrices, for a batch of such pairs. p is 1, 2
// or infinity.

#include <cstdint>
#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// Computes the p-norm distances between the `rows` rows of x1 and the `columns` rows of x2, packed
/// as [batch, rows, columns].
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

/// Computes the gradient of x1, for p other than 2. To get the gradient of x2, exchange x1 and x2,
/// `rows` and `columns`, and the two steps.
struct DistancesBackward {
  static constexpr std::string_view name = "distances_backward";
  double p;
  std::int64_t batch;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t width;
  std::int64_t row_step;  ///< elements of `distances` from one row of x1 to the next
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
