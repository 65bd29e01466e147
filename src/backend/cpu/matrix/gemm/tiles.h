#pragma once

// How a product is partitioned: strips of rows of A, panels of columns of B, and the functions that
// pack and multiply every size of tile.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "backend/cpu/matrix/gemm/micro_kernel.h"
#include "backend/cpu/matrix/gemm/packing.h"
#include "base/divide_up.h"

namespace eg::gemm {

namespace detail {

template <class T, int Rows, Reads A, std::size_t... Vector>
constexpr auto kernels_of_height(std::index_sequence<Vector...>) {
  return std::array<MicroKernel<T>, sizeof...(Vector)>{micro_kernel<T, Rows, Vector + 1, A>...};
}

template <class T, Reads A, std::size_t... Row>
constexpr auto kernels_for(std::index_sequence<Row...>) {
  return std::array{kernels_of_height<T, Row + 1, A>(std::make_index_sequence<kPanelVectors>())...};
}

template <class T, int Unit, std::size_t... Width>
constexpr auto packers_for(std::index_sequence<Width...>) {
  return std::array<Packer<T>, sizeof...(Width)>{pack<T, (Width + 1) * Unit>...};
}

}  // namespace detail

/// Kernels, indexed by rows - 1 and vectors - 1.
template <class T, Reads A>
inline constexpr auto kKernels = detail::kernels_for<T, A>(std::make_index_sequence<kStripRows>());

/// Packers of strips, indexed by rows - 1.
template <class T>
inline constexpr auto kStripPackers =
    detail::packers_for<T, 1>(std::make_index_sequence<kStripRows>());

/// Packers of panels, indexed by vectors - 1.
template <class T>
inline constexpr auto kPanelPackers =
    detail::packers_for<T, kLanes<T>>(std::make_index_sequence<kPanelVectors>());

/// Divides `count` rows into the fewest strips, whose heights differ by at most one: a separate
/// remainder of one or two rows would leave most of the register tile idle.
class Strips {
 public:
  explicit Strips(std::int64_t count)
      : size_(divide_up(count, kStripRows)), height_(count / size_), taller_(count % size_) {}

  std::int64_t size() const { return size_; }
  std::int64_t begin(std::int64_t i) const { return i * height_ + std::min(i, taller_); }
  std::size_t rows(std::int64_t i) const {
    return static_cast<std::size_t>(height_ + (i < taller_ ? 1 : 0));
  }
  /// Returns the number of consecutive strips, starting with strip i, that have the same height.
  std::int64_t same_height(std::int64_t i) const { return (i < taller_ ? taller_ : size_) - i; }

 private:
  std::int64_t size_;
  std::int64_t height_;
  std::int64_t taller_;
};

}  // namespace eg::gemm
