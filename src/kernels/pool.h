#pragma once

// Pooling over windows of planes. A window is the product of an interval of rows and an interval of
// columns, so the two axes describe all windows; plain, adaptive, strided and dilated pooling
// differ only in these axes. Planes are packed one after the other.

#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// One spatial axis of the planes, and the windows along it. Window i reads `kernel` elements,
/// `dilation` apart, starting at i * stride - padding; positions outside the plane are skipped.
struct PoolAxis {
  std::int64_t in;   ///< the size of the planes
  std::int64_t out;  ///< the number of windows, which is the size of the result
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  /// If set, window i reads the elements from floor(i * in / out) to ceil((i + 1) * in / out),
  /// exclusive, and the fields from `kernel` to `dilation` have their default values.
  bool is_adaptive = false;
};

/// The planes, and the windows over each of them.
struct PoolPlanes {
  std::int64_t planes;
  PoolAxis rows;
  PoolAxis columns;
};

/// The index that max pooling returns for a window without elements, which covers only padding.
inline constexpr std::int64_t kNoIndex = -1;

/// Computes the largest element of every window (the first of several equal ones; NaN is the
/// largest) and its index in the plane, for floats and int64.
struct MaxPool {
  static constexpr std::string_view name = "max_pool";
  PoolPlanes pool;
  In x;
  Out y;
  Out indices;  ///< int64

  void compute_on_cpu() const;
};

/// Computes the gradient of x: every element of grad_y is added at the index that its value came
/// from.
struct MaxPoolBackward {
  static constexpr std::string_view name = "max_pool_backward";
  PoolPlanes pool;
  In grad_y;
  In indices;
  Out grad_x;

  void compute_on_cpu() const;
};

/// Reads the elements at `indices` from every plane of x.
struct MaxPoolPick {
  static constexpr std::string_view name = "max_pool_pick";
  PoolPlanes pool;
  In x;
  In indices;
  Out y;

  void compute_on_cpu() const;
};

/// The divisor for the sum of a window.
struct PoolDivisor {
  bool count_include_pad = true;  ///< false counts only elements inside the plane
  double divisor_override = 0;    ///< replaces the count unless it is zero
};

/// Computes the mean of every window. Dilation is 1.
struct AvgPool {
  static constexpr std::string_view name = "avg_pool";
  PoolPlanes pool;
  PoolDivisor divisor;
  In x;
  Out y;

  void compute_on_cpu() const;
};

/// Computes the gradient of x: every element of grad_y is distributed over its window.
struct AvgPoolBackward {
  static constexpr std::string_view name = "avg_pool_backward";
  PoolPlanes pool;
  PoolDivisor divisor;
  In grad_y;
  Out grad_x;

  void compute_on_cpu() const;
};

using PoolKernels = TypeList<MaxPool, MaxPoolBackward, MaxPoolPick, AvgPool, AvgPoolBackward>;

}  // namespace eg::kernel
