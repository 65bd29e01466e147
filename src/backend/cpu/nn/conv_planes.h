#pragma once

// Copies of the input of a convolution, laid out so that its kernels need no conditions.
//
// Along each axis, an output position reads the source at first + position * position_step + tap *
// tap_step; this is all a kernel needs to know about strides, dilations and padding. The source is
// copied one band of rows at a time: padding becomes zeros, and columns are grouped by their
// remainder modulo the step, so that adjacent positions read adjacent elements for any step. A band
// is small enough to stay in a cache and is read once per weight, so the copy is cheap. An im2col
// matrix would be larger by a factor of the number of taps.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "backend/cpu/matrix/gemm/vector.h"
#include "backend/cpu/nn/conv_images.h"
#include "base/error.h"

namespace eg::cpu {

/// One spatial axis of a convolution, from the point of view of its output.
struct ConvAxis {
  std::int64_t taps;
  std::int64_t tap_step;
  std::int64_t positions;
  std::int64_t position_step;
  std::int64_t first;  ///< source index of tap 0 at position 0; negative in the padding
  std::int64_t size;   ///< of the source

  /// Returns the extent of the source that `count` positions read, gaps included.
  std::int64_t reach(std::int64_t count) const {
    return (count - 1) * position_step + (std::max<std::int64_t>(1, taps) - 1) * tap_step + 1;
  }
};

/// Taps [begin, end) of an axis.
struct TapRange {
  std::int64_t begin;
  std::int64_t end;
};

/// Returns the taps of a position that are not in the padding.
inline TapRange taps_inside(const ConvAxis& axis, std::int64_t position) {
  const auto taps_before = [&](std::int64_t end) {
    const std::int64_t distance = end - axis.first - position * axis.position_step;
    return distance <= 0 ? 0 : std::min(axis.taps, (distance + axis.tap_step - 1) / axis.tap_step);
  };
  return {taps_before(0), taps_before(axis.size)};
}

/// Returns a pointer advanced by `bytes` bytes.
template <class T>
const T* bytes_after(const T* from, std::int32_t bytes) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(from) + bytes);
}

/// Copies a row. Most rows are too short to be worth a call of memcpy, which the compiler would
/// make of a loop over the last few elements.
template <class T>
void copy_short(const T* from, std::int64_t count, T* to) {
  constexpr int kLanes = gemm::kLanes<T>;
  if (count >= kLanes) {
    for (std::int64_t i = 0; i + kLanes < count; i += kLanes)
      gemm::store(to + i, gemm::load(from + i));
    gemm::store(to + count - kLanes, gemm::load(from + count - kLanes));
    return;
  }
  if (count > 0) to[0] = from[0];
  if (count > 1) to[1] = from[1];
  if (count > 2) to[2] = from[2];
}

/// The layout of a band of copied planes of a bundle of images (conv_images.h).
template <class T>
class PlaneLayout {
 public:
  /// A copy covers `band` rows of positions, and columns in multiples of `width`.
  PlaneLayout(const ConvAxis& rows, const ConvAxis& columns, std::int64_t band, std::int64_t width,
              std::int64_t bundle)
      : rows_(rows),
        columns_(columns),
        bundle_(bundle),
        height_(rows.reach(band)),
        run_((columns.positions + width - 1) / width * width +
             columns.reach(1) / columns.position_step),
        row_stride_(run_ * columns.position_step * bundle) {}

  std::int64_t row_stride() const { return row_stride_; }
  /// The distance between the source rows of two adjacent positions.
  std::int64_t position_stride() const { return row_stride_ * rows_.position_step; }
  std::int64_t plane_stride() const { return row_stride_ * height_; }

  /// Returns the distance in bytes from the element read by tap 0 of plane 0 to that of another tap
  /// and plane, for the same position.
  std::int32_t bytes_to(std::int64_t plane, std::int64_t tap_row, std::int64_t tap_column) const {
    const std::int64_t column = tap_column * columns_.tap_step;
    const std::int64_t numbers =
        plane * plane_stride() + tap_row * rows_.tap_step * row_stride_ +
        (column % columns_.position_step * run_ + column / columns_.position_step) * bundle_;
    return bytes_of(numbers);
  }
  /// Returns the distance in bytes from the element read at position (0, 0) to that read at another
  /// position, for the same tap.
  std::int32_t bytes_to_position(std::int64_t row, std::int64_t column) const {
    return bytes_of(row * position_stride() + column * bundle_);
  }

  /// Returns the number of elements in a copy of `channels` planes.
  std::int64_t size(std::int64_t channels) const { return channels * plane_stride(); }

  /// Copies the part of `channels` planes that is read by positions from row `first_position` on.
  /// Padding is not written: clear the memory once, or before every copy if one copy does not cover
  /// all positions.
  void copy(const ConvImages<const T>& planes, std::int64_t channels, std::int64_t first_position,
            T* to) const {
    const std::int64_t first = rows_.first + first_position * rows_.position_step;
    const std::int64_t begin = std::max<std::int64_t>(first, 0);
    const std::int64_t end = std::min(first + height_, rows_.size);
    for (std::int64_t c = 0; c < channels; ++c) {
      const T* const plane = planes.first + c * rows_.size * columns_.size;
      for (std::int64_t row = begin; row < end; ++row)
        copy_row({plane + row * columns_.size, planes.stride, planes.count},
                 to + c * plane_stride() + (row - first) * row_stride_);
    }
  }

 private:
  static std::int32_t bytes_of(std::int64_t numbers) {
    const std::int64_t bytes = numbers * static_cast<std::int64_t>(sizeof(T));
    if (bytes > std::numeric_limits<std::int32_t>::max())
      fail(ErrorCode::kOutOfMemory,
           "the input read by this convolution spans more than 2 GiB; use smaller images.");
    return static_cast<std::int32_t>(bytes);
  }

  void copy_row(const ConvImages<const T>& row, T* to) const {
    const std::int64_t step = columns_.position_step;
    for (std::int64_t run = 0; run < step; ++run, to += run_ * bundle_) {
      const std::int64_t first = columns_.first + run;
      const auto places_before = [&](std::int64_t end) {
        return std::clamp<std::int64_t>((end - first + step - 1) / step, 0, run_);
      };
      const std::int64_t begin = first >= 0 ? 0 : places_before(0);
      const std::int64_t end = first >= columns_.size ? begin : places_before(columns_.size);
      const T* const from = row.first + first + begin * step;
      T* const target = to + begin * bundle_;
      if (bundle_ > 1) {
        interleave({from, row.stride, row.count}, step, end - begin, target);
      } else if (step == 1) {
        copy_short(from, end - begin, target);
      } else {
        for (std::int64_t i = 0; i < end - begin; ++i) target[i] = from[i * step];
      }
    }
  }

  ConvAxis rows_;
  ConvAxis columns_;
  std::int64_t bundle_;
  std::int64_t height_;
  std::int64_t run_;
  std::int64_t row_stride_;
};

}  // namespace eg::cpu
