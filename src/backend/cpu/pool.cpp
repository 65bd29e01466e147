#include "backend/cpu/pool.h"

#include <algorithm>
#include <limits>

#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

std::int64_t in_size(const PoolPlanes& pool) { return pool.rows.size * pool.columns.size; }
std::int64_t out_size(const PoolPlanes& pool) {
  return static_cast<std::int64_t>(pool.rows.windows.size() * pool.columns.windows.size());
}

// Calls body(plane) for all planes, on several threads.
template <class Body>
void for_each_plane(const PoolPlanes& pool, Body&& body) {
  const std::int64_t work = std::max({std::int64_t{1}, in_size(pool), out_size(pool)});
  const std::int64_t grain = std::max<std::int64_t>(1, kMinElementsPerTask / work);
  parallel_for(0, pool.planes, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) body(plane);
  });
}

// Calls body(rows, columns, place in the result) for all windows of a plane.
template <class Body>
void for_each_window(const PoolPlanes& pool, Body&& body) {
  std::int64_t place = 0;
  for (const PoolWindow& rows : pool.rows.windows)
    for (const PoolWindow& columns : pool.columns.windows) body(rows, columns, place++);
}

}  // namespace

template <class T>
void max_pool(const PoolPlanes& pool, const T* in, T* out, std::int64_t* places) {
  using Limits = std::numeric_limits<T>;
  constexpr T kLowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  const std::int64_t width = pool.columns.size;
  for_each_plane(pool, [&](std::int64_t plane) {
    const T* const from = in + plane * in_size(pool);
    T* const to = out + plane * out_size(pool);
    std::int64_t* const to_places = places + plane * out_size(pool);
    for_each_window(pool, [&](const PoolWindow& rows, const PoolWindow& columns, std::int64_t i) {
      std::int64_t best = rows.begin * width + columns.begin;
      T largest = kLowest;
      for (std::int64_t y = rows.begin; y < rows.end; y += pool.rows.step) {
        for (std::int64_t x = columns.begin; x < columns.end; x += pool.columns.step) {
          const T value = from[y * width + x];
          // Which is largest cannot be predicted: selections, no branch.
          const bool is_larger = (value > largest) | (value != value);
          largest = is_larger ? value : largest;
          best = is_larger ? y * width + x : best;
        }
      }
      to[i] = largest;
      to_places[i] = best;
    });
  });
}

template <class T>
void max_pool_backward(const PoolPlanes& pool, const T* grad, const std::int64_t* places,
                       T* grad_in) {
  for_each_plane(pool, [&](std::int64_t plane) {
    T* const to = grad_in + plane * in_size(pool);
    std::fill(to, to + in_size(pool), T{0});
    const std::int64_t first = plane * out_size(pool);
    for (std::int64_t i = first; i < first + out_size(pool); ++i) to[places[i]] += grad[i];
  });
}

template <class T>
void max_pool_pick(const PoolPlanes& pool, const T* in, const std::int64_t* places, T* out) {
  for_each_plane(pool, [&](std::int64_t plane) {
    const T* const from = in + plane * in_size(pool);
    const std::int64_t first = plane * out_size(pool);
    for (std::int64_t i = first; i < first + out_size(pool); ++i) out[i] = from[places[i]];
  });
}

template <class T>
void avg_pool(const PoolPlanes& pool, const T* in, T* out) {
  const std::int64_t width = pool.columns.size;
  for_each_plane(pool, [&](std::int64_t plane) {
    const T* const from = in + plane * in_size(pool);
    T* const to = out + plane * out_size(pool);
    for_each_window(pool, [&](const PoolWindow& rows, const PoolWindow& columns, std::int64_t i) {
      T sum = 0;
      for (std::int64_t y = rows.begin; y < rows.end; ++y)
        for (std::int64_t x = columns.begin; x < columns.end; ++x) sum += from[y * width + x];
      to[i] = sum / static_cast<T>(rows.count * columns.count);
    });
  });
}

template <class T>
void avg_pool_backward(const PoolPlanes& pool, const T* grad, T* grad_in) {
  const std::int64_t width = pool.columns.size;
  for_each_plane(pool, [&](std::int64_t plane) {
    const T* const from = grad + plane * out_size(pool);
    T* const to = grad_in + plane * in_size(pool);
    std::fill(to, to + in_size(pool), T{0});
    for_each_window(pool, [&](const PoolWindow& rows, const PoolWindow& columns, std::int64_t i) {
      const T share = from[i] / static_cast<T>(rows.count * columns.count);
      for (std::int64_t y = rows.begin; y < rows.end; ++y)
        for (std::int64_t x = columns.begin; x < columns.end; ++x) to[y * width + x] += share;
    });
  });
}

#define EG_POOL(T)                                                                       \
  template void max_pool(const PoolPlanes&, const T*, T*, std::int64_t*);                \
  template void max_pool_backward(const PoolPlanes&, const T*, const std::int64_t*, T*); \
  template void max_pool_pick(const PoolPlanes&, const T*, const std::int64_t*, T*);     \
  template void avg_pool(const PoolPlanes&, const T*, T*);                               \
  template void avg_pool_backward(const PoolPlanes&, const T*, T*);
EG_POOL(float)
EG_POOL(double)
template void max_pool(const PoolPlanes&, const std::int64_t*, std::int64_t*, std::int64_t*);
#undef EG_POOL

}  // namespace eg::cpu
