#pragma once

// The register tile of a convolution: Rows channels of the result at two lines of places, Columns
// vectors each, summed over all taps while they stay in registers. Neighbouring places read
// neighbouring numbers (conv_planes.h), so the vectors of a tap are loaded from where they lie.

#include <array>
#include <cstdint>

#include "backend/cpu/matrix/gemm/vector.h"
#include "backend/cpu/nn/conv_planes.h"

namespace eg::cpu {

/// Sums that stay in registers beside what is multiplied (gemm/micro_kernel.h). With more, V8
/// spills.
#if defined(__wasm__) && !defined(__wasm_relaxed_simd__)
inline constexpr int kRegisterSums = 8;
#else
inline constexpr int kRegisterSums = 12;
#endif

/// Channels of the largest tile. Larger ones would not pay for their code in double.
template <class T>
inline constexpr int kConvRows = sizeof(T) == sizeof(float) ? kRegisterSums / 2 : 4;

/// What a tile sums over: `runs` runs of `count` steps, with `skipped` steps between two of them.
/// Step p multiplies Rows consecutive weights with what lies offsets[p] from a place.
template <class T>
struct ConvTaps {
  const T* weights;
  const std::int32_t* offsets;
  std::int64_t runs;
  std::int64_t count;
  std::int64_t skipped;
};

/// Where a tile's sums go. Steps and strides count elements.
template <class T>
struct ConvTarget {
  T* data;
  std::int64_t channel_stride;
  std::int64_t line_stride;
  std::int64_t column_step;
  std::array<std::int64_t, 2> columns;  ///< of each line, at most what a tile has
};

template <class T, int Rows, int Columns>
using ConvSums = gemm::Vector<T>[Rows][2][Columns];

// Loops of constant length over registers: unrolled, or the sums would live in memory.
template <class T, int Rows, int Columns>
EG_GEMM_INLINE void store_whole(const ConvSums<T, Rows, Columns>& sums, const ConvTarget<T>& to) {
  EG_GEMM_UNROLL
  for (int r = 0; r < Rows; ++r) {
    EG_GEMM_UNROLL
    for (int line = 0; line < 2; ++line) {
      T* const at = to.data + r * to.channel_stride + line * to.line_stride;
      EG_GEMM_UNROLL
      for (int c = 0; c < Columns; ++c) gemm::store(at + c * gemm::kLanes<T>, sums[r][line][c]);
    }
  }
}

// Stores the first columns of both lines of every row of a tile that lies in memory.
template <class T>
void store_part(const T* values, int rows, int width, const ConvTarget<T>& to) {
  for (int i = 0; i < 2 * rows; ++i, values += width) {
    T* const at = to.data + i / 2 * to.channel_stride + i % 2 * to.line_stride;
    for (std::int64_t c = 0; c < to.columns[i % 2]; ++c) at[c * to.column_step] = values[c];
  }
}

/// Computes one tile: `place` is what its first place reads with offset 0, `line_step` lies between
/// the reads of its lines, `bias` has a number per channel or is null.
template <class T, int Rows, int Columns>
void conv_tile(const ConvTaps<T>& taps, const T* place, std::int64_t line_step, const T* bias,
               const ConvTarget<T>& to) {
  using gemm::kLanes;
  ConvSums<T, Rows, Columns> sums;
  EG_GEMM_UNROLL
  for (int r = 0; r < Rows; ++r) {
    const gemm::Vector<T> start = gemm::splat(bias == nullptr ? T{0} : bias[r]);
    EG_GEMM_UNROLL
    for (int c = 0; c < Columns; ++c) sums[r][0][c] = sums[r][1][c] = start;
  }
  const T* weights = taps.weights;
  const T* const second = place + line_step;
  const std::int32_t* offsets = taps.offsets;
  for (std::int64_t run = 0; run < taps.runs; ++run) {
    const std::int32_t* const end = offsets + taps.count;
    for (; offsets != end; ++offsets, weights += Rows) {
      gemm::Vector<T> read[2][Columns];
      EG_GEMM_UNROLL
      for (int c = 0; c < Columns; ++c) {
        read[0][c] = gemm::load(bytes_behind(place, *offsets) + c * kLanes<T>);
        read[1][c] = gemm::load(bytes_behind(second, *offsets) + c * kLanes<T>);
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
    offsets += taps.skipped;
    weights += taps.skipped * Rows;
  }
  constexpr std::int64_t kWidth = Columns * kLanes<T>;
  if (to.column_step == 1 && to.columns[0] == kWidth && to.columns[1] == kWidth) {
    store_whole<T, Rows, Columns>(sums, to);
    return;
  }
  // A copy: sums whose address is known elsewhere would be written to memory with every step.
  std::array<T, 2 * Rows * kWidth> values;
  store_whole<T, Rows, Columns>(sums, {.data = values.data(),
                                       .channel_stride = 2 * kWidth,
                                       .line_stride = kWidth,
                                       .column_step = 1,
                                       .columns = {kWidth, kWidth}});
  store_part(values.data(), Rows, kWidth, to);
}

/// Vectors in a line of a tile of so many channels: few channels need several to keep the
/// multipliers busy.
constexpr int conv_tile_columns(std::int64_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }

template <class T>
using ConvTile = void (*)(const ConvTaps<T>&, const T*, std::int64_t, const T*,
                          const ConvTarget<T>&);

/// The tiles by their number of channels - 1.
template <class T>
constexpr auto kConvTiles = []<std::size_t... Row>(std::index_sequence<Row...>) {
  return std::array<ConvTile<T>, sizeof...(Row)>{
      conv_tile<T, Row + 1, conv_tile_columns(Row + 1)>...};
}(std::make_index_sequence<kConvRows<T>>());

}  // namespace eg::cpu
