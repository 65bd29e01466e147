#pragma once

// Pooling over windows of planes. A window is the product of an interval of rows and an interval of
// columns, so the two axes describe all windows: plain, adaptive, strided and dilated pooling
// differ in nothing else. Planes lie packed one after the other and are shared by threads.

#include <cstdint>
#include <vector>

namespace eg::cpu {

/// What one place of the result reads along an axis: begin, begin + step, ... before end.
struct PoolWindow {
  std::int64_t begin;
  std::int64_t end;
  double count;  ///< what a mean divides by
};

/// One spatial axis of the planes.
struct PoolAxis {
  std::int64_t size;
  std::int64_t step;
  std::vector<PoolWindow> windows;
};

/// The planes, and the windows over each of them.
struct PoolPlanes {
  std::int64_t planes;
  const PoolAxis& rows;
  const PoolAxis& columns;
};

/// Computes the largest element of every window (the first of equal ones, NaN above all) and its
/// place in the plane.
template <class T>
void max_pool(const PoolPlanes& pool, const T* in, T* out, std::int64_t* places);

/// Adds every element of `grad` to the place it came from; `grad_in` is overwritten.
template <class T>
void max_pool_backward(const PoolPlanes& pool, const T* grad, const std::int64_t* places,
                       T* grad_in);

/// Reads from every plane of `in` the elements at `places`.
template <class T>
void max_pool_pick(const PoolPlanes& pool, const T* in, const std::int64_t* places, T* out);

/// Computes the sum of every window divided by its counts.
template <class T>
void avg_pool(const PoolPlanes& pool, const T* in, T* out);

/// Spreads every element of `grad` over its window; `grad_in` is overwritten.
template <class T>
void avg_pool_backward(const PoolPlanes& pool, const T* grad, T* grad_in);

}  // namespace eg::cpu
