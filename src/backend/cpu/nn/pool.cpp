// compile: engine

#include "kernels/pool.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "backend/cpu/vector/vec.h"
#include "base/checked_int.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using kernel::PoolAxis;
using kernel::PoolDivisor;
using kernel::PoolPlanes;

std::int64_t in_size(const PoolPlanes& pool) { return pool.rows.in * pool.columns.in; }
std::int64_t out_size(const PoolPlanes& pool) { return pool.rows.out * pool.columns.out; }

// With an empty result, the number of windows along an axis may be too large to list.
bool has_windows(const PoolPlanes& pool) { return pool.planes > 0 && out_size(pool) > 0; }

// The elements that one output position reads along an axis: begin, begin + dilation, ... before
// end.
struct Window {
  std::int64_t begin;
  std::int64_t end;
  double count;  // the divisor of a mean
};

Window adaptive_window(const PoolAxis& axis, std::int64_t i) {
  const std::int64_t begin = (CheckedInt(i) * axis.in).value() / axis.out;
  const std::int64_t end = (CheckedInt(i + 1) * axis.in + axis.out - 1).value() / axis.out;
  return {begin, end, static_cast<double>(end - begin)};
}

Window plain_window(const PoolAxis& axis, std::int64_t i, bool count_include_pad) {
  const std::int64_t first = i * axis.stride - axis.padding;
  const std::int64_t reach = axis.dilation * (axis.kernel - 1) + 1;
  const std::int64_t padded_end = std::min(first + reach, axis.in + axis.padding);
  const std::int64_t missed = std::max<std::int64_t>(0, -first);
  const std::int64_t begin = first + (missed + axis.dilation - 1) / axis.dilation * axis.dilation;
  const std::int64_t end = std::min(padded_end, axis.in);
  return {begin, end, static_cast<double>(count_include_pad ? padded_end - first : end - begin)};
}

// All windows of an axis, computed once and used for every plane.
using Windows = std::vector<Window>;

Windows windows_of(const PoolAxis& axis, bool count_include_pad = true) {
  Windows windows;
  windows.reserve(checked_count(axis.out));
  for (std::int64_t i = 0; i < axis.out; ++i) {
    windows.push_back(axis.is_adaptive ? adaptive_window(axis, i)
                                       : plain_window(axis, i, count_include_pad));
  }
  return windows;
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

// The windows of average pooling.
class MeanWindows {
 public:
  MeanWindows(const PoolPlanes& pool, const PoolDivisor& divisor)
      : rows_(windows_of(pool.rows, divisor.count_include_pad)),
        columns_(windows_of(pool.columns, divisor.count_include_pad)) {
    if (divisor.divisor_override == 0) return;
    for (Window& window : rows_) window.count = 1;
    for (Window& window : columns_) window.count = divisor.divisor_override;
  }

  /// Calls body(rows, columns, index in the result) for all windows of a plane.
  template <class Body>
  void for_each(Body&& body) const {
    std::int64_t place = 0;
    for (const Window& rows : rows_)
      for (const Window& columns : columns_) body(rows, columns, place++);
  }

 private:
  Windows rows_;
  Windows columns_;
};

template <class T>
constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::lowest();

std::int64_t taps_of(const PoolAxis& axis, const Window& window) {
  return std::max<std::int64_t>(0, (window.end - window.begin + axis.dilation - 1) / axis.dilation);
}
std::int64_t most_taps(const PoolAxis& axis, const Windows& windows) {
  std::int64_t most = 0;
  for (const Window& window : windows) most = std::max(most, taps_of(axis, window));
  return most;
}

// Windows [begin, end) of a row of windows that have the same form: none is truncated by the
// padding, and consecutive ones are `spacing` apart.
struct EvenWindows {
  EvenWindows(const PoolPlanes& pool, const Windows& rows, const Windows& columns);

  std::size_t begin = 0;
  std::size_t end = 0;
  std::int64_t spacing = 0;
  std::int64_t row_taps;
  /// Offsets of the elements of a window from its first one, row by row. Empty if there are too
  /// many to list, or if all are padding.
  std::vector<std::int64_t> taps;
};

EvenWindows::EvenWindows(const PoolPlanes& pool, const Windows& rows, const Windows& columns)
    : row_taps(most_taps(pool.columns, columns)) {
  const auto is_whole = [&](std::size_t i) {
    return i < columns.size() && taps_of(pool.columns, columns[i]) == row_taps;
  };
  while (!is_whole(begin)) ++begin;
  end = begin + 1;
  if (is_whole(end)) spacing = columns[end].begin - columns[begin].begin;
  while (is_whole(end) && columns[end].begin - columns[end - 1].begin == spacing) ++end;
  constexpr std::int64_t kMaxTaps = 4096;
  const std::int64_t tap_rows = most_taps(pool.rows, rows);
  if (row_taps > kMaxTaps || tap_rows * row_taps > kMaxTaps) return;
  taps.reserve(checked_count(tap_rows * row_taps));
  for (std::int64_t y = 0; y < tap_rows; ++y) {
    for (std::int64_t x = 0; x < row_taps; ++x)
      taps.push_back(y * pool.rows.dilation * pool.columns.in + x * pool.columns.dilation);
  }
}

// Loads a vector of elements that are `spacing` apart.
template <class T>
Vec<T> load_spaced(const T* from, std::int64_t spacing) {
  Vec<T> result;
  if (spacing == 1) {
    std::memcpy(&result, from, sizeof(result));
    return result;
  }
  if constexpr (kLanes<T> == 4) {
    if (spacing == 2) {
      // The memory may end after the last element, so the second vector is loaded to end with it.
      Vec<T> second;
      std::memcpy(&result, from, sizeof(result));
      std::memcpy(&second, from + 3, sizeof(second));
      return __builtin_shufflevector(result, second, 0, 2, 5, 7);
    }
  }
  for (int lane = 0; lane < kLanes<T>; ++lane) result[lane] = from[lane * spacing];
  return result;
}

// Stores a vector of indices, which are as wide as the elements, as int64.
void store_places(Vec<std::int64_t> places, std::int64_t* to) {
  std::memcpy(to, &places, sizeof(places));
}
void store_places(Vec<std::int32_t> places, std::int64_t* to) {
  using Wide = Vec<std::int64_t>;
  store_places(__builtin_convertvector(__builtin_shufflevector(places, places, 0, 1), Wide), to);
  store_places(__builtin_convertvector(__builtin_shufflevector(places, places, 2, 3), Wide),
               to + 2);
}

// Computes the largest elements of `count` windows, the first of which begins at `first`, and their
// indices. The windows in a vector are processed tap by tap. Which element is largest cannot be
// predicted, so the code uses selections instead of branches.
template <class T>
void max_of_even_windows(const T* plane, std::int64_t first, std::int64_t spacing,
                         std::span<const std::int64_t> taps, std::int64_t count, T* to,
                         std::int64_t* places) {
  using Place = SignedBits<T>;
  Vec<Place> lanes;
  for (int lane = 0; lane < kLanes<T>; ++lane) lanes[lane] = static_cast<Place>(lane * spacing);
  for (std::int64_t next = 0; next < count; next += kLanes<T>) {
    // The last vector overlaps its neighbor instead of extending past the end.
    const std::int64_t i = std::min(next, count - kLanes<T>);
    const std::int64_t place = first + i * spacing;
    Vec<T> largest = splat(kLowest<T>);
    Vec<Place> found = splat(Place{0});
    for (const std::int64_t tap : taps) {
      const Vec<T> value = load_spaced(plane + place + tap, spacing);
      const auto is_larger = (value > largest) | (value != value);
      largest = is_larger ? value : largest;
      found = is_larger ? splat(static_cast<Place>(tap)) : found;
    }
    std::memcpy(to + i, &largest, sizeof(largest));
    store_places(found + lanes + static_cast<Place>(place), places + i);
  }
}

// The same for a single window of any form.
template <class T>
void max_of_window(const T* plane, const PoolPlanes& pool, const Window& rows,
                   const Window& columns, T& to, std::int64_t& place) {
  const std::int64_t width = pool.columns.in;
  to = kLowest<T>;
  const bool is_empty = rows.begin >= rows.end || columns.begin >= columns.end;
  place = is_empty ? kernel::kNoIndex : rows.begin * width + columns.begin;
  for (std::int64_t y = rows.begin; y < rows.end; y += pool.rows.dilation) {
    for (std::int64_t x = columns.begin; x < columns.end; x += pool.columns.dilation) {
      const T value = plane[y * width + x];
      const bool is_larger = value > to || value != value;
      to = is_larger ? value : to;
      place = is_larger ? y * width + x : place;
    }
  }
}

template <class T>
void max_pool(const PoolPlanes& pool, const T* in, T* out, std::int64_t* places) {
  if (!has_windows(pool)) return;
  const Windows all_rows = windows_of(pool.rows);
  const Windows columns = windows_of(pool.columns);
  const EvenWindows even(pool, all_rows, columns);
  const auto even_count = static_cast<std::int64_t>(even.end - even.begin);
  const bool has_vectors = even_count >= kLanes<T> && !even.taps.empty();
  for_each_plane(pool, [&](std::int64_t plane) {
    const T* const from = in + plane * in_size(pool);
    T* to = out + plane * out_size(pool);
    std::int64_t* to_places = places + plane * out_size(pool);
    for (const Window& rows : all_rows) {
      for (std::size_t i = 0; i < columns.size();) {
        if (i == even.begin && has_vectors && rows.begin < rows.end) {
          const auto taps = checked_count(taps_of(pool.rows, rows) * even.row_taps);
          max_of_even_windows(from, rows.begin * pool.columns.in + columns[i].begin, even.spacing,
                              std::span(even.taps).first(taps), even_count, to + i, to_places + i);
          i = even.end;
        } else {
          max_of_window(from, pool, rows, columns[i], to[i], to_places[i]);
          ++i;
        }
      }
      to += columns.size();
      to_places += columns.size();
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
    for (std::int64_t i = first; i < first + out_size(pool); ++i)
      if (places[i] != kernel::kNoIndex) to[places[i]] += grad[i];
  });
}

template <class T>
void max_pool_pick(const PoolPlanes& pool, const T* in, const std::int64_t* places, T* out) {
  for_each_plane(pool, [&](std::int64_t plane) {
    const T* const from = in + plane * in_size(pool);
    const std::int64_t first = plane * out_size(pool);
    for (std::int64_t i = first; i < first + out_size(pool); ++i)
      out[i] = places[i] == kernel::kNoIndex ? T{0} : from[places[i]];
  });
}

template <class T>
void avg_pool(const PoolPlanes& pool, const PoolDivisor& divisor, const T* in, T* out) {
  if (!has_windows(pool)) return;
  const MeanWindows windows(pool, divisor);
  const std::int64_t width = pool.columns.in;
  for_each_plane(pool, [&](std::int64_t plane) {
    const T* const from = in + plane * in_size(pool);
    T* const to = out + plane * out_size(pool);
    windows.for_each([&](const Window& rows, const Window& columns, std::int64_t i) {
      T sum = 0;
      for (std::int64_t y = rows.begin; y < rows.end; ++y)
        for (std::int64_t x = columns.begin; x < columns.end; ++x) sum += from[y * width + x];
      to[i] = sum / static_cast<T>(rows.count * columns.count);
    });
  });
}

template <class T>
void avg_pool_backward(const PoolPlanes& pool, const PoolDivisor& divisor, const T* grad,
                       T* grad_in) {
  if (!has_windows(pool)) {
    std::fill_n(grad_in, pool.planes * in_size(pool), T{0});
    return;
  }
  const MeanWindows windows(pool, divisor);
  const std::int64_t width = pool.columns.in;
  for_each_plane(pool, [&](std::int64_t plane) {
    const T* const from = grad + plane * out_size(pool);
    T* const to = grad_in + plane * in_size(pool);
    std::fill(to, to + in_size(pool), T{0});
    windows.for_each([&](const Window& rows, const Window& columns, std::int64_t i) {
      const T share = from[i] / static_cast<T>(rows.count * columns.count);
      for (std::int64_t y = rows.begin; y < rows.end; ++y)
        for (std::int64_t x = columns.begin; x < columns.end; ++x) to[y * width + x] += share;
    });
  });
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void MaxPool::compute_on_cpu() const {
  const auto compute = [&]<class T>() {
    cpu::max_pool(pool, x.as<T>(), y.as<T>(), indices.as<std::int64_t>());
  };
  if (x.dtype() == DType::kInt64) return compute.operator()<std::int64_t>();
  visit_floating(x.dtype(), name, compute);
}

void MaxPoolBackward::compute_on_cpu() const {
  visit_floating(grad_y.dtype(), name, [&]<class T>() {
    cpu::max_pool_backward(pool, grad_y.as<T>(), indices.as<std::int64_t>(), grad_x.as<T>());
  });
}

void MaxPoolPick::compute_on_cpu() const {
  visit_floating(x.dtype(), name, [&]<class T>() {
    cpu::max_pool_pick(pool, x.as<T>(), indices.as<std::int64_t>(), y.as<T>());
  });
}

void AvgPool::compute_on_cpu() const {
  visit_floating(x.dtype(), name,
                 [&]<class T>() { cpu::avg_pool(pool, divisor, x.as<T>(), y.as<T>()); });
}

void AvgPoolBackward::compute_on_cpu() const {
  visit_floating(grad_y.dtype(), name, [&]<class T>() {
    cpu::avg_pool_backward(pool, divisor, grad_y.as<T>(), grad_x.as<T>());
  });
}

}  // namespace eg::kernel
