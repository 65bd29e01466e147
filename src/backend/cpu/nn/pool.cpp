#include "backend/cpu/nn/pool.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "backend/cpu/vector/vec.h"
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

// The columns that windows read: a vector of neighbouring windows goes through its taps together.
// Shorter windows repeat their last column, and missing ones the last window.
template <class T>
class ColumnTaps {
 public:
  using Place = SignedBits<T>;
  using Places = Vec<Place>;

  explicit ColumnTaps(const PoolAxis& axis) : step_(axis.step) {
    const std::size_t size = (axis.windows.size() + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
    first_.reserve(size);
    reach_.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
      const PoolWindow& w = axis.windows[std::min(i, axis.windows.size() - 1)];
      const std::int64_t length =
          std::max<std::int64_t>(1, (w.end - w.begin + axis.step - 1) / axis.step);
      // A window of padding alone has nothing to read.
      first_.push_back(static_cast<Place>(std::min(w.begin, axis.size - 1)));
      reach_.push_back(static_cast<Place>((length - 1) * axis.step));
      count_ = std::max(count_, length);
    }
  }

  std::int64_t count() const { return count_; }
  /// What a tap of the windows from `window` on reads.
  Places columns(std::int64_t tap, std::size_t window) const {
    const Places reach = load(reach_, window);
    const Places offset = Places{} + static_cast<Place>(tap * step_);
    return load(first_, window) + (offset < reach ? offset : reach);
  }

 private:
  static Places load(const std::vector<Place>& from, std::size_t window) {
    Places result;
    std::memcpy(&result, from.data() + window, sizeof(result));
    return result;
  }

  std::int64_t step_;
  std::int64_t count_ = 0;
  std::vector<Place> first_;
  std::vector<Place> reach_;
};

template <class T>
constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::lowest();

template <class T>
struct Largest {
  Vec<T> value;
  Vec<SignedBits<T>> place;
};

// Which element is largest cannot be predicted: selections of vectors, no branches.
template <class T>
Largest<T> largest_in_windows(const T* plane, std::size_t width, const PoolWindow& rows,
                              std::int64_t row_step, const ColumnTaps<T>& taps,
                              std::size_t window) {
  const auto first_place = [&](std::int64_t y) {
    return static_cast<SignedBits<T>>(static_cast<std::size_t>(y) * width);
  };
  Largest<T> found{Vec<T>{} + kLowest<T>, taps.columns(0, window) + first_place(rows.begin)};
  for (std::int64_t y = rows.begin; y < rows.end; y += row_step) {
    const T* const row = plane + static_cast<std::size_t>(y) * width;
    for (std::int64_t tap = 0; tap < taps.count(); ++tap) {
      const auto columns = taps.columns(tap, window);
      Vec<T> value;
      for (int lane = 0; lane < kLanes<T>; ++lane) value[lane] = row[columns[lane]];
      const auto is_larger = (value > found.value) | (value != value);
      found.value = is_larger ? value : found.value;
      found.place = is_larger ? columns + first_place(y) : found.place;
    }
  }
  return found;
}

}  // namespace

template <class T>
void max_pool(const PoolPlanes& pool, const T* in, T* out, std::int64_t* places) {
  // Without planes there may be more columns than can be listed.
  if (pool.planes == 0) return;
  const ColumnTaps<T> taps(pool.columns);
  const auto width = static_cast<std::size_t>(pool.columns.size);
  const std::size_t columns = pool.columns.windows.size();
  for_each_plane(pool, [&](std::int64_t plane) {
    const T* const from = in + plane * in_size(pool);
    T* to = out + plane * out_size(pool);
    std::int64_t* to_places = places + plane * out_size(pool);
    for (const PoolWindow& rows : pool.rows.windows) {
      for (std::size_t i = 0; i < columns; i += kLanes<T>) {
        const Largest<T> found = largest_in_windows(from, width, rows, pool.rows.step, taps, i);
        const std::size_t count = std::min<std::size_t>(kLanes<T>, columns - i);
        for (std::size_t lane = 0; lane < count; ++lane) {
          const PoolWindow& window = pool.columns.windows[i + lane];
          to[i + lane] = window.begin < window.end ? found.value[lane] : kLowest<T>;
          to_places[i + lane] = found.place[lane];
        }
      }
      to += columns;
      to_places += columns;
    }
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
