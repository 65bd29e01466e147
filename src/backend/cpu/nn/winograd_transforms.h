#pragma once

// The transforms of Winograd's F(2x2, 3x3). A tile of 4 x 4 source elements yields 2 x 2 output
// positions of a 3 x 3 convolution of stride 1. With
//
//   B' d = (d0 - d2, d1 + d2, d2 - d1, d1 - d3)
//   G w  = (w0, (w0 + w1 + w2) / 2, (w0 - w1 + w2) / 2, w2)
//   A' m = (m0 + m1 + m2, m1 - m2 - m3)
//
// along rows and columns, the outputs are A'[(B' d B) . (G w G')] A: 16 products instead of 36, and
// with many tiles at once, 16 matrix products over channels. The gradient of the weight is the
// transpose of this: G'[(B' d B) . (A g A')] G. An element that a position does not read does not
// enter its sums, so a NaN does not spread; only infinities are not preserved.
//
// The lanes of a vector are tiles: four adjacent tiles of a row are computed at once.

#include <algorithm>
#include <array>
#include <cstdint>

#include "backend/cpu/matrix/gemm/vector.h"
#include "backend/cpu/nn/conv_planes.h"

namespace eg::cpu::winograd {

using Floats = gemm::Vector<float>;

inline constexpr int kFloatLanes = gemm::kLanes<float>;
/// Elements of a transformed tile.
inline constexpr int kProducts = 16;

/// A row of adjacent tiles of one plane, or a part of a row.
struct TileRow {
  const float* plane;
  std::int64_t height;
  std::int64_t width;
  std::int64_t row;     ///< first row of the first tile; negative in the padding
  std::int64_t column;  ///< first column of the first tile; negative in the padding
  std::int64_t vectors;
};

/// Where transformed tiles are written: product p of the vector with index v in its band is at p *
/// product_stride + v / 2 * pair_stride + v % 2 * half_stride.
struct TileTarget {
  float* at(std::int64_t vector) const {
    const std::int64_t v = first_vector + vector;
    return data + v / 2 * pair_stride + v % 2 * half_stride;
  }

  float* data;
  std::int64_t first_vector;
  std::int64_t product_stride;
  std::int64_t pair_stride;
  std::int64_t half_stride;
};

/// Vectors of the longest row of tiles.
inline constexpr std::int64_t kMaxVectors = 16;
/// Returns the number of elements of a line that a row of tiles reads.
constexpr std::int64_t line_size(std::int64_t vectors) { return 2 * kFloatLanes * (vectors + 1); }
/// The working memory of the transforms.
using Lines = std::array<float, 4 * line_size(kMaxVectors)>;

EG_GEMM_INLINE Floats even(Floats a, Floats b) { return __builtin_shufflevector(a, b, 0, 2, 4, 6); }
EG_GEMM_INLINE Floats odd(Floats a, Floats b) { return __builtin_shufflevector(a, b, 1, 3, 5, 7); }

/// Copies the elements of one row of the plane that a row of tiles reads.
inline void copy_line(const TileRow& tiles, std::int64_t row, float* line) {
  const std::int64_t size = line_size(tiles.vectors);
  const std::int64_t begin = std::clamp<std::int64_t>(-tiles.column, 0, size);
  const std::int64_t end = std::clamp<std::int64_t>(tiles.width - tiles.column, begin, size);
  const bool is_padding = row < 0 || row >= tiles.height;
  if (is_padding || end - begin < size) {
    for (std::int64_t x = 0; x < size; x += kFloatLanes) gemm::store(line + x, Floats{});
  }
  if (!is_padding)
    copy_short(tiles.plane + row * tiles.width + tiles.column + begin, end - begin, line + begin);
}

/// Transforms the source elements of a row of tiles.
inline void transform_source(const TileRow& tiles, const TileTarget& to) {
  Lines buffer;
  float* const lines = buffer.data();
  const std::int64_t size = line_size(tiles.vectors);
  // Unrolling this would only add code.
#pragma GCC unroll 1
  for (int i = 0; i < 4; ++i) copy_line(tiles, tiles.row + i, lines + i * size);
  for (std::int64_t x = 0; x < size; x += kFloatLanes) {
    float* const at = lines + x;
    const Floats d0 = gemm::load(at);
    const Floats d1 = gemm::load(at + size);
    const Floats d2 = gemm::load(at + 2 * size);
    const Floats d3 = gemm::load(at + 3 * size);
    gemm::store(at, d0 - d2);
    gemm::store(at + size, d1 + d2);
    gemm::store(at + 2 * size, d2 - d1);
    gemm::store(at + 3 * size, d1 - d3);
  }
  for (std::int64_t v = 0; v < tiles.vectors; ++v) {
    float* out = to.at(v);
    const float* line = lines + v * 2 * kFloatLanes;
#pragma GCC unroll 1
    for (int i = 0; i < 4; ++i, line += size) {
      const Floats a = gemm::load(line);
      const Floats b = gemm::load(line + kFloatLanes);
      const Floats c = gemm::load(line + 2);
      const Floats d = gemm::load(line + 2 + kFloatLanes);
      const Floats d0 = even(a, b);
      const Floats d1 = odd(a, b);
      const Floats d2 = even(c, d);
      const Floats d3 = odd(c, d);
      gemm::store(out, d0 - d2);
      out += to.product_stride;
      gemm::store(out, d1 + d2);
      out += to.product_stride;
      gemm::store(out, d2 - d1);
      out += to.product_stride;
      gemm::store(out, d1 - d3);
      out += to.product_stride;
    }
  }
}

/// Transforms the output gradient of a row of tiles. `tiles` describes the output positions.
inline void transform_gradient(const TileRow& tiles, const TileTarget& to) {
  Lines buffer;
  float* const lines = buffer.data();
  const std::int64_t size = line_size(tiles.vectors);
#pragma GCC unroll 1
  for (int i = 0; i < 2; ++i) copy_line(tiles, tiles.row + i, lines + i * size);
  for (std::int64_t v = 0; v < tiles.vectors; ++v) {
    float* out = to.at(v);
    const float* const line = lines + v * 2 * kFloatLanes;
    const Floats a[2] = {gemm::load(line), gemm::load(line + kFloatLanes)};
    const Floats b[2] = {gemm::load(line + size), gemm::load(line + size + kFloatLanes)};
    const Floats g0[2] = {even(a[0], a[1]), odd(a[0], a[1])};
    const Floats g1[2] = {even(b[0], b[1]), odd(b[0], b[1])};
    const auto store_line = [&](Floats left, Floats right) {
      gemm::store(out, left);
      out += to.product_stride;
      gemm::store(out, left + right);
      out += to.product_stride;
      gemm::store(out, left - right);
      out += to.product_stride;
      gemm::store(out, -right);
      out += to.product_stride;
    };
    store_line(g0[0], g0[1]);
    store_line(g0[0] + g1[0], g0[1] + g1[1]);
    store_line(g0[0] - g1[0], g0[1] - g1[1]);
    store_line(-g1[0], -g1[1]);
  }
}

/// Transforms 3 x 3 weights, read with strides, to 16 elements that are `stride` apart.
inline void transform_weight(const float* weight, std::int64_t row_stride,
                             std::int64_t column_stride, float* to, std::int64_t stride) {
  float rows[4][3];
  for (int x = 0; x < 3; ++x, weight += column_stride) {
    const float w0 = weight[0];
    const float w1 = weight[row_stride];
    const float w2 = weight[2 * row_stride];
    rows[0][x] = w0;
    rows[1][x] = 0.5F * (w0 + w2 + w1);
    rows[2][x] = 0.5F * (w0 + w2 - w1);
    rows[3][x] = w2;
  }
  for (const auto& [w0, w1, w2] : rows) {
    for (const float product : {w0, 0.5F * (w0 + w2 + w1), 0.5F * (w0 + w2 - w1), w2}) {
      *to = product;
      to += stride;
    }
  }
}

/// Transforms 16 sums of products, `stride` apart, into the gradient of 3 x 3 weights and adds it.
inline void add_weight_gradient(const float* sums, std::int64_t stride, float* weight) {
  float rows[3][4];
  for (int x = 0; x < 4; ++x, sums += stride) {
    const float middle = 0.5F * (sums[4 * stride] + sums[8 * stride]);
    rows[0][x] = sums[0] + middle;
    rows[1][x] = 0.5F * (sums[4 * stride] - sums[8 * stride]);
    rows[2][x] = middle + sums[12 * stride];
  }
  for (const auto& [u0, u1, u2, u3] : rows) {
    const float middle = 0.5F * (u1 + u2);
    *weight++ += u0 + middle;
    *weight++ += 0.5F * (u1 - u2);
    *weight++ += middle + u3;
  }
}

/// Where the output positions of a row of tiles are written.
struct OutputTarget {
  float* data;
  std::int64_t row_stride;
  std::int64_t rows;     ///< 1 or 2
  std::int64_t columns;  ///< remaining from the first tile on
};

/// Transforms sums of products, `product_stride` apart, into output positions. Returns zeros, or
/// NaN in some lane if one of the results is not finite, or so large that its sum with another one
/// might not be.
inline Floats transform_sums(const float* sums, std::int64_t product_stride, std::int64_t vectors,
                             Floats bias, const OutputTarget& to) {
  Floats check{};
  for (std::int64_t v = 0; v < vectors; ++v, sums += kFloatLanes) {
    Floats top[4];
    Floats bottom[4];
    const float* at = sums;
    EG_GEMM_UNROLL
    for (int x = 0; x < 4; ++x, at += product_stride) {
      const Floats m1 = gemm::load(at + 4 * product_stride);
      const Floats m2 = gemm::load(at + 8 * product_stride);
      top[x] = gemm::load(at) + m1 + m2;
      bottom[x] = m1 - m2 - gemm::load(at + 12 * product_stride);
    }
    const auto store_row = [&](const Floats(&row)[4], std::int64_t y) {
      const Floats left = row[0] + row[1] + row[2] + bias;
      const Floats right = row[1] - row[2] - row[3] + bias;
      check += (left + right) * gemm::splat(0.0F);
      if (y >= to.rows) return;
      const Floats low = __builtin_shufflevector(left, right, 0, 4, 1, 5);
      const Floats high = __builtin_shufflevector(left, right, 2, 6, 3, 7);
      float* const out_row = to.data + y * to.row_stride + v * 2 * kFloatLanes;
      const std::int64_t columns = to.columns - v * 2 * kFloatLanes;
      if (columns >= 2 * kFloatLanes) {
        gemm::store(out_row, low);
        gemm::store(out_row + kFloatLanes, high);
      } else {
        float both[2 * kFloatLanes];
        gemm::store(both, low);
        gemm::store(both + kFloatLanes, high);
        for (std::int64_t x = 0; x < columns; ++x) out_row[x] = both[x];
      }
    };
    store_row(top, 0);
    store_row(bottom, 1);
  }
  return check;
}

}  // namespace eg::cpu::winograd
