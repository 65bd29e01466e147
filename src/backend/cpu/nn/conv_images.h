#pragma once

// Images that are processed together.
//
// The lanes of a vector are either adjacent positions of one image, or the same position of as many
// images as a vector has lanes, whose elements were interleaved: a bundle. Bundling costs copies
// and pays off for small planes: the positions in a vector share the union of their taps, and if
// rows are not a multiple of the vector, the last lanes of each row are idle. The last bundle of a
// batch may have fewer images.

#include <cstdint>

#include "backend/cpu/matrix/gemm/vector.h"

namespace eg::cpu {

/// The same element of several images, which are `stride` apart.
template <class T>
struct ConvImages {
  T* first;
  std::int64_t stride;
  std::int64_t count;
};

/// Interleaves `count` elements, `step` apart, of as many images as a vector has lanes. Missing
/// images are filled with zeros.
template <class T>
void interleave(const ConvImages<const T>& from, std::int64_t step, std::int64_t count, T* to) {
  constexpr int kLanes = gemm::kLanes<T>;
  std::int64_t i = 0;
  if (step == 1 && from.count == kLanes) {
    for (; i + kLanes <= count; i += kLanes) {
      gemm::Vector<T> block[kLanes];
      EG_GEMM_UNROLL
      for (int image = 0; image < kLanes; ++image)
        block[image] = gemm::load(from.first + image * from.stride + i);
      gemm::transpose(block);
      EG_GEMM_UNROLL
      for (int position = 0; position < kLanes; ++position)
        gemm::store(to + (i + position) * kLanes, block[position]);
    }
  }
  for (; i < count; ++i) {
    for (int image = 0; image < kLanes; ++image)
      to[i * kLanes + image] =
          image < from.count ? from.first[image * from.stride + i * step] : T{0};
  }
}

/// The inverse of interleave().
template <class T>
void deinterleave(const T* from, std::int64_t count, std::int64_t step, const ConvImages<T>& to) {
  constexpr int kLanes = gemm::kLanes<T>;
  std::int64_t i = 0;
  if (step == 1 && to.count == kLanes) {
    for (; i + kLanes <= count; i += kLanes) {
      gemm::Vector<T> block[kLanes];
      EG_GEMM_UNROLL
      for (int position = 0; position < kLanes; ++position)
        block[position] = gemm::load(from + (i + position) * kLanes);
      gemm::transpose(block);
      EG_GEMM_UNROLL
      for (int image = 0; image < kLanes; ++image)
        gemm::store(to.first + image * to.stride + i, block[image]);
    }
  }
  for (; i < count; ++i) {
    for (int image = 0; image < to.count; ++image)
      to.first[image * to.stride + i * step] = from[i * kLanes + image];
  }
}

}  // namespace eg::cpu
