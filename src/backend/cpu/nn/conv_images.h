#pragma once

// Images whose numbers are computed together.
//
// The lanes of a vector are neighbouring places of one image, or the same place of as many images
// as it has lanes, which were put side by side: a bundle. That costs copies, and saves where planes
// are small: the places of a vector read with the taps of all of them, and where rows are no
// multiple of a vector, the last lanes of each are idle. The last bundle of a batch may have fewer
// images.

#include <cstdint>

#include "backend/cpu/matrix/gemm/vector.h"

namespace eg::cpu {

/// The same numbers of some images, `stride` apart.
template <class T>
struct ConvImages {
  T* first;
  std::int64_t stride;
  std::int64_t count;
};

/// Copies `count` numbers, `step` apart, of as many images as a vector has lanes, side by side;
/// missing images are zeros.
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
      for (int place = 0; place < kLanes; ++place)
        gemm::store(to + (i + place) * kLanes, block[place]);
    }
  }
  for (; i < count; ++i) {
    for (int image = 0; image < kLanes; ++image)
      to[i * kLanes + image] =
          image < from.count ? from.first[image * from.stride + i * step] : T{0};
  }
}

/// The way back.
template <class T>
void deinterleave(const T* from, std::int64_t count, std::int64_t step, const ConvImages<T>& to) {
  constexpr int kLanes = gemm::kLanes<T>;
  std::int64_t i = 0;
  if (step == 1 && to.count == kLanes) {
    for (; i + kLanes <= count; i += kLanes) {
      gemm::Vector<T> block[kLanes];
      EG_GEMM_UNROLL
      for (int place = 0; place < kLanes; ++place)
        block[place] = gemm::load(from + (i + place) * kLanes);
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
