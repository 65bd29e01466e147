#include "kernels/pool.h"

#include <algorithm>
#include <cstring>
#include <limits>
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

// Without results there may be more windows along an axis than can be listed.
bool has_windows(const PoolPlanes& pool) { return pool.planes > 0 && out_size(pool) > 0; }

// What one place of the result reads along an axis: begin, begin + dilation, ... before end.
struct Window {
  std::int64_t begin;
  std::int64_t end;
  double count;  // what a mean divides by
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

// All windows of an axis: they are gone through for every plane.
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

// The windows of means.
class MeanWindows {
 public:
  MeanWindows(const PoolPlanes& pool, const PoolDivisor& divisor)
      : rows_(windows_of(pool.rows, divisor.count_include_pad)),
        columns_(windows_of(pool.columns, divisor.count_include_pad)) {
    if (divisor.divisor_override == 0) return;
    for (Window& window : rows_) window.count = 1;
    for (Window& window : columns_) window.count = divisor.divisor_override;
  }

  /// Calls body(rows, columns, place in the result) for all windows of a plane.
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

// The columns that windows read: a vector of neighbouring windows goes through its taps together.
// Shorter windows repeat their last column, and missing ones the last window.
template <class T>
class ColumnTaps {
 public:
  using Place = SignedBits<T>;
  using Places = Vec<Place>;

  ColumnTaps(const PoolAxis& axis, const Windows& windows) : step_(axis.dilation) {
    const std::size_t size = (windows.size() + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
    first_.reserve(size);
    reach_.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
      const Window& w = windows[std::min(i, windows.size() - 1)];
      const std::int64_t length =
          std::max<std::int64_t>(1, (w.end - w.begin + axis.dilation - 1) / axis.dilation);
      // A window of padding alone has nothing to read.
      first_.push_back(static_cast<Place>(std::min(w.begin, axis.in - 1)));
      reach_.push_back(static_cast<Place>((length - 1) * axis.dilation));
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
Largest<T> largest_in_windows(const T* plane, std::size_t width, const Window& rows,
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

template <class T>
void max_pool(const PoolPlanes& pool, const T* in, T* out, std::int64_t* places) {
  if (!has_windows(pool)) return;
  const Windows all_rows = windows_of(pool.rows);
  const Windows all_columns = windows_of(pool.columns);
  const ColumnTaps<T> taps(pool.columns, all_columns);
  const auto width = static_cast<std::size_t>(pool.columns.in);
  const std::size_t columns = all_columns.size();
  for_each_plane(pool, [&](std::int64_t plane) {
    const T* const from = in + plane * in_size(pool);
    T* to = out + plane * out_size(pool);
    std::int64_t* to_places = places + plane * out_size(pool);
    for (const Window& rows : all_rows) {
      for (std::size_t i = 0; i < columns; i += kLanes<T>) {
        const Largest<T> found = largest_in_windows(from, width, rows, pool.rows.dilation, taps, i);
        const std::size_t count = std::min<std::size_t>(kLanes<T>, columns - i);
        for (std::size_t lane = 0; lane < count; ++lane) {
          const Window& window = all_columns[i + lane];
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
    cpu::max_pool(pool, x.as<T>(), y.as<T>(), places.as<std::int64_t>());
  };
  if (x.dtype() == DType::kInt64) return compute.operator()<std::int64_t>();
  visit_floating(x.dtype(), name, compute);
}

void MaxPoolBackward::compute_on_cpu() const {
  visit_floating(grad_y.dtype(), name, [&]<class T>() {
    cpu::max_pool_backward(pool, grad_y.as<T>(), places.as<std::int64_t>(), grad_x.as<T>());
  });
}

void MaxPoolPick::compute_on_cpu() const {
  visit_floating(x.dtype(), name, [&]<class T>() {
    cpu::max_pool_pick(pool, x.as<T>(), places.as<std::int64_t>(), y.as<T>());
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
