#pragma once

// Packing interleaves `width` parallel streams: out[p * width + s] = stream s at depth p. The
// streams of a strip of A are its rows; those of a panel of B are its columns. A transposed operand
// differs only in which of the two strides is 1, and both cases are fast: contiguous depth is
// transposed in registers, contiguous streams are copied.

#include <algorithm>
#include <array>
#include <cstdint>

#include "backend/cpu/matrix/gemm/vector.h"

namespace eg::gemm {

/// Deepest strip or panel that is packed: 8 floats wide it fills a quarter of a 32 KiB L1 cache.
inline constexpr std::int64_t kMaxDepth = 256;

// Streams beyond the edge of the matrix read zeros from this array.
template <class T>
inline constexpr std::array<T, kMaxDepth> kZeros{};

/// Packs `depth` elements of `count` <= Width streams; the other streams are zero.
template <class T, int Width>
void pack_any(T* out, const T* in, std::int64_t stream_stride, std::int64_t depth_stride, int count,
              std::int64_t begin, std::int64_t depth) {
  for (std::int64_t p = begin; p < depth; ++p) {
    for (int s = 0; s < Width; ++s) {
      out[p * Width + s] = s < count ? in[s * stream_stride + p * depth_stride] : T{0};
    }
  }
}

/// Packs streams that are contiguous along the depth.
template <class T, int Width>
void pack_contiguous_depth(T* out, const T* in, std::int64_t stream_stride, int count,
                           std::int64_t depth) {
  // The two streams of a half group are stored as pairs. Otherwise the last group repeats the last
  // stream, and the stores of the next depth step overwrite the excess.
  constexpr bool kHasHalf = Width == 6 && kLanes<T> == 4;
  constexpr int kGroups = kHasHalf ? Width / kLanes<T> : (Width + kLanes<T> - 1) / kLanes<T>;
  constexpr int kStreams = kHasHalf ? Width : kGroups * kLanes<T>;
  std::array<const T*, kStreams> stream;
  for (int s = 0; s < kStreams; ++s) {
    const int read = std::min(s, Width - 1);
    stream[s] = read < count ? in + read * stream_stride : kZeros<T>.data();
  }
  std::int64_t p = 0;
  // The last kOverwritten depth steps are left to the loop below, whose stores do not extend past
  // the end of the strip.
  constexpr int kOverwritten = (kStreams - Width + Width - 1) / Width;
  for (; p + kLanes<T> + kOverwritten <= depth; p += kLanes<T>) {
    Vector<T> block[kGroups][kLanes<T>];
    EG_GEMM_UNROLL
    for (int g = 0; g < kGroups; ++g) {
      EG_GEMM_UNROLL
      for (int s = 0; s < kLanes<T>; ++s) block[g][s] = load(stream[g * kLanes<T> + s] + p);
      transpose(block[g]);
    }
    T* const to = out + p * Width;
    EG_GEMM_UNROLL
    for (int step = 0; step < kLanes<T>; ++step) {
      EG_GEMM_UNROLL
      for (int g = 0; g < kGroups; ++g) store(to + step * Width + g * kLanes<T>, block[g][step]);
    }
    if constexpr (kHasHalf) {
      store_pairs(to + Width - 2, Width, load(stream[Width - 2] + p), load(stream[Width - 1] + p));
    }
  }
  pack_any<T, Width>(out, in, stream_stride, 1, count, p, depth);
}

/// Packs streams that are adjacent in memory.
template <class T, int Width>
void pack_contiguous_streams(T* out, const T* in, std::int64_t depth_stride, std::int64_t depth) {
  static_assert(Width >= kLanes<T>);
  for (std::int64_t p = 0; p < depth; ++p) {
    // If the width is not a multiple of the vector, the last vector overlaps its neighbor.
    EG_GEMM_UNROLL
    for (int s = 0; s + kLanes<T> <= Width; s += kLanes<T>) store(out + s, load(in + s));
    if constexpr (Width % kLanes<T> != 0) {
      store(out + Width - kLanes<T>, load(in + Width - kLanes<T>));
    }
    out += Width;
    in += depth_stride;
  }
}

/// Packs `depth` elements of `count` <= Width streams into `out`; the other streams are zero.
template <class T, int Width>
void pack(T* out, const T* in, std::int64_t stream_stride, std::int64_t depth_stride, int count,
          std::int64_t depth) {
  if constexpr (Width >= kLanes<T>) {
    if (stream_stride == 1 && count == Width) {
      pack_contiguous_streams<T, Width>(out, in, depth_stride, depth);
      return;
    }
  }
  if (depth_stride == 1) {
    pack_contiguous_depth<T, Width>(out, in, stream_stride, count, depth);
  } else {
    pack_any<T, Width>(out, in, stream_stride, depth_stride, count, 0, depth);
  }
}

template <class T>
using Packer = void (*)(T* out, const T* in, std::int64_t stream_stride, std::int64_t depth_stride,
                        int count, std::int64_t depth);

}  // namespace eg::gemm
