#pragma once

// Pooling over windows of planes. A window is the product of an interval of rows and an interval of
// columns, so the two axes describe all windows: plain, adaptive, strided and dilated pooling
// differ in nothing else. Planes lie packed one after the other.

#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// One spatial axis of the planes, and the windows along it. Window i reads `kernel` elements,
/// `dilation` apart, the first of them at i * stride - padding; those that do not exist are left
/// out.
struct PoolAxis {
  std::int64_t in;   ///< the size of the planes
  std::int64_t out;  ///< the number of windows, which is the size of the result
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  /// Window i reads the elements from floor(i * in / out) on, before ceil((i + 1) * in / out).
  bool is_adaptive = false;
};

/// The planes, and the windows over each of them.
struct PoolPlanes {
  std::int64_t planes;
  PoolAxis rows;
  PoolAxis columns;
};

/// What stands for the place of the largest element of a window that holds none, of padding alone.
inline constexpr std::int64_t kNoPlace = -1;

/// The largest element of every window (the first of equal ones, NaN above all) and its place in
/// the plane; of floats and int64.
struct MaxPool {
  static constexpr std::string_view name = "max_pool";
  PoolPlanes pool;
  In x;
  Out y;
  Out places;  ///< int64

  void compute_on_cpu() const;
};

/// The gradient of x: every element of that of y is added to the place it came from.
struct MaxPoolBackward {
  static constexpr std::string_view name = "max_pool_backward";
  PoolPlanes pool;
  In grad_y;
  In places;
  Out grad_x;

  void compute_on_cpu() const;
};

/// Reads from every plane of x the elements at `places`.
struct MaxPoolPick {
  static constexpr std::string_view name = "max_pool_pick";
  PoolPlanes pool;
  In x;
  In places;
  Out y;

  void compute_on_cpu() const;
};

/// What the sum of a window is divided by.
struct PoolDivisor {
  bool count_include_pad = true;  ///< or only the elements that exist
  double divisor_override = 0;    ///< takes the place of all counts where it is not zero
};

/// The mean of every window. Dilation is 1.
struct AvgPool {
  static constexpr std::string_view name = "avg_pool";
  PoolPlanes pool;
  PoolDivisor divisor;
  In x;
  Out y;

  void compute_on_cpu() const;
};

/// The gradient of x: every element of that of y is spread over its window.
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
