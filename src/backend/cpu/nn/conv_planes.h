#pragma once

// What a convolution reads, laid out so that its kernels need no conditions.
//
// A place of the result reads, along each axis, the source at first + place * place_step +
// tap * tap_step: that is all a kernel knows of strides, dilations and padding. The source is
// copied a band of rows at a time: padding becomes zeros, and columns are sorted by their remainder
// by the step, a run for each, so that neighbouring places read neighbouring numbers whatever the
// step is. A band is small enough to stay in a cache and is read once per weight, so the copy costs
// little; a matrix of columns (im2col) would be as many times larger as the kernel has taps.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "backend/cpu/matrix/gemm/vector.h"
#include "backend/cpu/nn/conv_images.h"
#include "base/error.h"

namespace eg::cpu {

/// One spatial axis of a convolution, as its result sees it.
struct ConvAxis {
  std::int64_t taps;
  std::int64_t tap_step;
  std::int64_t places;
  std::int64_t place_step;
  std::int64_t first;  ///< what tap 0 of place 0 reads; negative in the padding
  std::int64_t size;   ///< of the source

  /// Numbers of the source that `count` places read, gaps included.
  std::int64_t reach(std::int64_t count) const {
    return (count - 1) * place_step + (std::max<std::int64_t>(1, taps) - 1) * tap_step + 1;
  }
};

/// Taps [begin, end) of an axis.
struct TapRange {
  std::int64_t begin;
  std::int64_t end;
};

/// The taps with which a place reads more than padding.
inline TapRange taps_inside(const ConvAxis& axis, std::int64_t place) {
  const auto taps_before = [&](std::int64_t end) {
    const std::int64_t distance = end - axis.first - place * axis.place_step;
    return distance <= 0 ? 0 : std::min(axis.taps, (distance + axis.tap_step - 1) / axis.tap_step);
  };
  return {taps_before(0), taps_before(axis.size)};
}

/// The number so many bytes behind another.
template <class T>
const T* bytes_behind(const T* from, std::int32_t bytes) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(from) + bytes);
}

/// Copies a row: most are too short for a call of memcpy, which a loop over the last few numbers
/// would become, to be worth its while.
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
  /// `band` rows of places are served by a copy, and columns in multiples of `width`.
  PlaneLayout(const ConvAxis& rows, const ConvAxis& columns, std::int64_t band, std::int64_t width,
              std::int64_t bundle)
      : rows_(rows),
        columns_(columns),
        bundle_(bundle),
        height_(rows.reach(band)),
        run_((columns.places + width - 1) / width * width + columns.reach(1) / columns.place_step),
        row_stride_(run_ * columns.place_step * bundle) {}

  std::int64_t row_stride() const { return row_stride_; }
  /// Between the rows that two neighbouring places read.
  std::int64_t place_stride() const { return row_stride_ * rows_.place_step; }
  std::int64_t plane_stride() const { return row_stride_ * height_; }

  /// Bytes from where place 0 reads with tap 0 of plane 0 to where it reads with another.
  std::int32_t bytes_to(std::int64_t plane, std::int64_t tap_row, std::int64_t tap_column) const {
    const std::int64_t column = tap_column * columns_.tap_step;
    const std::int64_t numbers =
        plane * plane_stride() + tap_row * rows_.tap_step * row_stride_ +
        (column % columns_.place_step * run_ + column / columns_.place_step) * bundle_;
    return bytes_of(numbers);
  }
  /// Bytes from where place (0, 0) reads to where another does, with one tap.
  std::int32_t bytes_to_place(std::int64_t row, std::int64_t column) const {
    return bytes_of(row * place_stride() + column * bundle_);
  }

  /// Numbers that a copy of `channels` planes takes.
  std::int64_t size(std::int64_t channels) const { return channels * plane_stride(); }

  /// Copies what the places from row `first_place` on read of `channels` planes. The padding is
  /// left as it is: clear it once, and where not all places are served by one copy before each.
  void copy(const ConvImages<const T>& planes, std::int64_t channels, std::int64_t first_place,
            T* to) const {
    const std::int64_t first = rows_.first + first_place * rows_.place_step;
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
      fail(ErrorCode::kOutOfMemory, "what this convolution reads lies more than 2 GiB apart.");
    return static_cast<std::int32_t>(bytes);
  }

  void copy_row(const ConvImages<const T>& row, T* to) const {
    const std::int64_t step = columns_.place_step;
    for (std::int64_t run = 0; run < step; ++run, to += run_ * bundle_) {
      const std::int64_t first = columns_.first + run;
      const auto places_before = [&](std::int64_t end) {
        return std::clamp<std::int64_t>((end - first + step - 1) / step, 0, run_);
      };
      const std::int64_t begin = first >= 0 ? 0 : places_before(0);
      const std::int64_t end = first >= columns_.size ? begin : places_before(columns_.size);
      const T* const from = row.first + first + begin * step;
      T* const place = to + begin * bundle_;
      if (bundle_ > 1) {
        interleave({from, row.stride, row.count}, step, end - begin, place);
      } else if (step == 1) {
        copy_short(from, end - begin, place);
      } else {
        for (std::int64_t i = 0; i < end - begin; ++i) place[i] = from[i * step];
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
