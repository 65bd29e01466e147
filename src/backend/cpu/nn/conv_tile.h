#pragma once

// The register tile of a convolution: Rows output channels at two lines of positions, Columns
// vectors each, summed over all taps while they stay in registers. One call computes all tiles of
// two lines, because a single tile is too little work for a call. Adjacent positions read adjacent
// elements (conv_planes.h), so the vectors of a tap are loaded in place.

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "backend/cpu/matrix/gemm/vector.h"
#include "backend/cpu/nn/conv_planes.h"

namespace eg::cpu {

/// The number of sums that fit in registers next to the operands (gemm/micro_kernel.h). With more,
/// V8 spills.
#if defined(__wasm__) && !defined(__wasm_relaxed_simd__)
inline constexpr int kRegisterSums = 8;
#else
inline constexpr int kRegisterSums = 12;
#endif

/// Channels of the largest tile. In double, larger tiles would not be worth their code size.
template <class T>
inline constexpr int kConvRows = sizeof(T) == sizeof(float) ? kRegisterSums / 2 : 4;

/// A column of tiles: where it begins, and the steps that are not in the padding.
struct ConvColumn {
  std::int64_t first;
  std::int64_t first_step;
  std::int64_t steps;
  std::array<std::int64_t, 2> positions;  ///< of each line, at most the width of a tile
};

/// Two lines of positions, and the products that each of their tiles sums: `runs` runs of steps,
/// whose first steps are `run_length` apart. A step multiplies Rows consecutive weights with the
/// elements at offsets[step] from a position. Distances count elements.
template <class T>
struct ConvLines {
  std::span<const ConvColumn> columns;
  const T* weights;
  const std::int32_t* offsets;
  std::int64_t runs;
  std::int64_t run_length;
  const T* from;  ///< element read by the first position at offset 0
  std::int64_t from_line;
  const T* bias;  ///< one per channel; may be null
  T* to;
  std::int64_t to_channel;
  std::int64_t to_line;
  std::int64_t to_column;
  bool has_second;
};

template <class T, int Rows, int Columns>
using ConvSums = gemm::Vector<T>[Rows][2][Columns];

// Loops of constant length over registers must be unrolled; otherwise the sums would be stored in
// memory.
template <class T, int Rows, int Columns>
EG_GEMM_INLINE void store_whole(const ConvSums<T, Rows, Columns>& sums, T* to, std::int64_t channel,
                                std::int64_t line) {
  EG_GEMM_UNROLL
  for (int r = 0; r < Rows; ++r) {
    EG_GEMM_UNROLL
    for (int l = 0; l < 2; ++l) {
      EG_GEMM_UNROLL
      for (int c = 0; c < Columns; ++c)
        gemm::store(to + r * channel + l * line + c * gemm::kLanes<T>, sums[r][l][c]);
    }
  }
}

// Stores the valid positions of both lines of every row of a tile that is in memory.
template <class T>
void store_part(const T* values, int rows, int width, const ConvLines<T>& lines,
                const ConvColumn& column) {
  T* const to = lines.to + column.first * lines.to_column;
  for (int i = 0; i < 2 * rows; ++i, values += width) {
    if (i % 2 == 1 && !lines.has_second) continue;
    T* const at = to + i / 2 * lines.to_channel + i % 2 * lines.to_line;
    for (std::int64_t c = 0; c < column.positions[i % 2]; ++c) at[c * lines.to_column] = values[c];
  }
}

/// Computes all tiles of two lines for Rows channels.
template <class T, int Rows, int Columns>
void conv_tiles(const ConvLines<T>& lines) {
  using gemm::kLanes;
  constexpr std::int64_t kWidth = Columns * kLanes<T>;
  for (const ConvColumn& column : lines.columns) {
    ConvSums<T, Rows, Columns> sums;
    EG_GEMM_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const gemm::Vector<T> start = gemm::splat(lines.bias == nullptr ? T{0} : lines.bias[r]);
      EG_GEMM_UNROLL
      for (int c = 0; c < Columns; ++c) sums[r][0][c] = sums[r][1][c] = start;
    }
    const T* weights = lines.weights + column.first_step * Rows;
    const std::int32_t* offsets = lines.offsets + column.first_step;
    const std::int64_t skipped = lines.run_length - column.steps;
    // Contiguous runs are processed as a single run.
    std::int64_t runs = skipped == 0 ? 1 : lines.runs;
    const std::int64_t steps = skipped == 0 ? column.steps * lines.runs : column.steps;
    const T* const first = lines.from + column.first;
    const T* const second = first + lines.from_line;
    for (; runs > 0; --runs) {
      for (const std::int32_t* const end = offsets + steps; offsets != end;
           ++offsets, weights += Rows) {
        gemm::Vector<T> read[2][Columns];
        EG_GEMM_UNROLL
        for (int c = 0; c < Columns; ++c) {
          read[0][c] = gemm::load(bytes_after(first, *offsets) + c * kLanes<T>);
          read[1][c] = gemm::load(bytes_after(second, *offsets) + c * kLanes<T>);
        }
        EG_GEMM_UNROLL
        for (int r = 0; r < Rows; ++r) {
          const gemm::Vector<T> weight = gemm::load_splat(weights + r);
          EG_GEMM_UNROLL
          for (int c = 0; c < Columns; ++c) {
            sums[r][0][c] = gemm::multiply_add(weight, read[0][c], sums[r][0][c]);
            sums[r][1][c] = gemm::multiply_add(weight, read[1][c], sums[r][1][c]);
          }
        }
      }
      offsets += skipped;
      weights += skipped * Rows;
    }
    if (lines.to_column == 1 && lines.has_second && column.positions[0] == kWidth &&
        column.positions[1] == kWidth) {
      store_whole<T, Rows, Columns>(sums, lines.to + column.first, lines.to_channel, lines.to_line);
      continue;
    }
    // A copy: if the address of the sums escaped, they would be written to memory at every step.
    std::array<T, 2 * Rows * kWidth> values;
    store_whole<T, Rows, Columns>(sums, values.data(), 2 * kWidth, kWidth);
    store_part(values.data(), Rows, kWidth, lines, column);
  }
}

/// Returns the vectors per line of a tile with `rows` channels: with few channels several vectors
/// are needed to keep the multipliers busy.
constexpr int conv_tile_columns(std::int64_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }

template <class T>
using ConvTiles = void (*)(const ConvLines<T>&);

/// Tile functions, indexed by the number of channels - 1.
template <class T>
constexpr auto kConvTiles = []<std::size_t... Row>(std::index_sequence<Row...>) {
  return std::array<ConvTiles<T>, sizeof...(Row)>{
      conv_tiles<T, Row + 1, conv_tile_columns(Row + 1)>...};
}(std::make_index_sequence<kConvRows<T>>());

}  // namespace eg::cpu
