#pragma once

// The matrix products of attention, in register tiles. Scores are stored transposed: a row for
// every key, a column for every query of a block. A softmax therefore runs down columns, many at a
// time and without a sum across lanes, and the following products read scores in place: adjacent
// elements belong to a strip of queries, and elements kBlockQueries apart to a strip of keys.
//
// Functions are not inlined: with several callers, inlining would add a kilobyte to the download.

#include <algorithm>
#include <array>
#include <cstdint>

#include "backend/cpu/matrix/gemm/tiles.h"
#include "backend/cpu/nn/attention_heads.h"
#include "backend/cpu/nn/scratch_array.h"

namespace eg::cpu {

/// Queries per block, and the distance between rows of scores. Kept small, because a causal block
/// computes scores up to its last query.
inline constexpr std::int64_t kBlockQueries = 32;

inline constexpr std::int64_t kPanelQueries = gemm::kPanelColumns<float>;

/// Rows that can be read in whole vectors.
struct Rows {
  const float* data;
  std::int64_t stride;

  Rows after(std::int64_t rows) const { return {data + rows * stride, stride}; }
  Matrix matrix() const { return {data, stride, 1}; }
};

/// Returns the number of elements that rows_in_place() copies for `rows` rows of a head; 0 if it
/// uses them in place.
inline std::int64_t row_copy_size(const Heads<const float>& m, std::int64_t rows,
                                  std::int64_t columns) {
  constexpr std::int64_t kLanes = gemm::kLanes<float>;
  if (m.column_stride == 1 && columns % kLanes == 0) return 0;
  return rows * divide_up(columns, kLanes) * kLanes;
}

/// Returns the rows of a matrix: in place, or, if `copies` was allocated, copied there and padded
/// with zeros.
[[gnu::noinline]] inline Rows rows_in_place(const Matrix& m, std::int64_t rows,
                                            std::int64_t columns,
                                            const ScratchArray<float>& copies) {
  if (copies.data() == nullptr) return {m.data, m.row_stride};
  constexpr std::int64_t kLanes = gemm::kLanes<float>;
  const std::int64_t stride = divide_up(columns, kLanes) * kLanes;
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* const from = m.data + i * m.row_stride;
    float* const to = copies.data() + i * stride;
    for (std::int64_t j = 0; j < columns; ++j) to[j] = from[j * m.column_stride];
    std::fill(to + columns, to + stride, 0.0F);
  }
  return {copies.data(), stride};
}

/// Packs rows of a matrix, times `scale`, as panels of a product's right operand.
[[gnu::noinline]] inline void pack_panels(float* to, const Matrix& m, std::int64_t rows,
                                          std::int64_t columns, float scale) {
  const auto pack = gemm::kPanelPackers<float>[gemm::kPanelVectors - 1];
  float* panel = to;
  for (std::int64_t first = 0; first < rows; first += kPanelQueries) {
    const auto count = static_cast<int>(std::min(kPanelQueries, rows - first));
    // The packers' array of zeros limits the depth.
    for (std::int64_t p = 0; p < columns; p += gemm::kMaxDepth) {
      const std::int64_t depth = std::min(gemm::kMaxDepth, columns - p);
      pack(panel, m.data + first * m.row_stride + p * m.column_stride, m.row_stride,
           m.column_stride, count, depth);
      panel += depth * kPanelQueries;
    }
  }
  if (scale == 1) return;
  const gemm::Vector<float> factor = gemm::splat(scale);
  for (float* x = to; x < panel; x += gemm::kLanes<float>) gemm::store(x, gemm::load(x) * factor);
}

/// Multiplies the strips of keys that begin before `end` by a panel of queries.
[[gnu::noinline]] inline void multiply_features(const gemm::Strips& strips, std::int64_t end,
                                                const Rows& keys, const float* panel,
                                                std::int64_t features, float* scores) {
  gemm::TileRun<float> run{};
  run.depth = static_cast<int>(features);
  run.a_row = static_cast<std::ptrdiff_t>(keys.stride);
  run.b = panel;
  run.b_step = kPanelQueries * sizeof(float);
  run.c_row = kBlockQueries;
  for (std::int64_t i = 0; i < strips.size() && strips.begin(i) < end; i += run.tiles) {
    const auto rows = static_cast<std::ptrdiff_t>(strips.rows(i));
    const std::int64_t first = strips.begin(i);
    run.tiles = std::min(strips.same_height(i), divide_up(end - first, rows));
    run.a = keys.after(first).data;
    run.a_tile = rows * run.a_row;
    run.c = scores + first * kBlockQueries;
    run.c_tile = rows * kBlockQueries;
    gemm::kKernels<float, gemm::Reads::kRows>[strips.rows(i) - 1][gemm::kPanelVectors - 1](run);
  }
}

/// Sets `rows` rows of C to the product of a strip of scores and `depth` rows, or adds the product
/// to them. A strip of queries, whose depth steps are keys, is read by columns; a strip of keys by
/// rows.
template <gemm::Reads Scores>
[[gnu::noinline]] void multiply_scores(std::size_t rows, const float* strip, const Rows& b,
                                       std::int64_t depth, std::int64_t columns, float* c,
                                       std::int64_t row_stride_c, bool adds) {
  constexpr std::int64_t kStep = Scores == gemm::Reads::kColumns ? kBlockQueries : 1;
  constexpr std::int64_t kNumber = sizeof(float);
  constexpr std::int64_t kWidth = gemm::kPanelColumns<float>;
  gemm::TileRun<float> run{};
  run.a_step = kBlockQueries * kNumber;
  run.a_row = kBlockQueries;
  run.b_step = static_cast<std::ptrdiff_t>(b.stride * kNumber);
  run.b_tile = run.c_tile = run.addend_tile = kWidth;
  // The part of B read at this depth stays in an L1 cache while the panels are processed.
  for (std::int64_t p = 0; p < depth; p += gemm::kMaxDepth) {
    run.depth = static_cast<int>(std::min(gemm::kMaxDepth, depth - p));
    run.a = strip + p * kStep;
    for (std::int64_t column = 0; column < columns;) {
      const std::int64_t width = std::min(kWidth, columns - column);
      const auto vectors = static_cast<std::size_t>(divide_up(width, gemm::kLanes<float>));
      const auto kernel = gemm::kKernels<float, Scores>[rows - 1][vectors - 1];
      float* const to = c + column;
      const bool adds_to_c = adds || p > 0;
      run.b = b.data + p * b.stride + column;
      if (width % gemm::kLanes<float> == 0) {
        run.tiles = width == kWidth ? (columns - column) / kWidth : 1;
        run.c = to;
        run.c_row = run.addend_row = static_cast<std::ptrdiff_t>(row_stride_c);
        run.addend = adds_to_c ? to : nullptr;
        kernel(run);
      } else {
        std::array<float, gemm::kStripRows * kWidth> tile;
        run.tiles = 1;
        run.c = tile.data();
        run.c_row = kWidth;
        run.addend = nullptr;
        kernel(run);
        gemm::update_tile<float>(tile.data(), to, row_stride_c, static_cast<std::int64_t>(rows),
                                 static_cast<int>(width), {1, adds_to_c ? 1.0F : 0.0F, nullptr});
      }
      column += run.tiles * kWidth;
    }
  }
}

}  // namespace eg::cpu
