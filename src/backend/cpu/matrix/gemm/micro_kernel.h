#pragma once

// The register tile: kStripRows x kPanelColumns sums that stay in registers while one strip of A
// and one panel of B are read from end to end. Everything else in this folder exists to feed it.
//
// WebAssembly on x86-64 leaves a program 15 vector registers. With fused multiply-add 6 rows of two
// vectors take 12 + 2 (B) + 1 (A); a multiply followed by an add needs one more for the product, so
// there the tile has 4 rows (5 spill in V8 before version 12, 6 in all: half the speed, see
// tests/bench/gemm_bench.cpp).

#include <array>
#include <cstdint>

#include "backend/cpu/matrix/gemm/vector.h"

namespace eg::gemm {

#if defined(__wasm__) && !defined(__wasm_relaxed_simd__)
inline constexpr int kStripRows = 4;
#else
inline constexpr int kStripRows = 6;
#endif

/// Vectors in a row of the register tile.
inline constexpr int kPanelVectors = 2;

/// Columns of the register tile.
template <class T>
inline constexpr int kPanelColumns = kPanelVectors * kLanes<T>;

/// What happens to a finished tile: C = alpha * tile + beta * C + bias.
template <class T>
struct Update {
  T alpha;
  T beta;
  const T* bias;  // for the tile's first column, or null
};

template <class T>
EG_GEMM_INLINE Vector<T> updated(Vector<T> sum, const T* c, const T* bias,
                                 const Update<T>& update) {
  Vector<T> value = sum * splat(update.alpha);
  if (update.beta != T{0}) value += splat(update.beta) * load(c);
  if (bias) value += load(bias);
  return value;
}

template <class T, int Rows, int Vectors>
EG_GEMM_INLINE void write_tile(const Vector<T> (&sum)[Rows][Vectors], T* c,
                               std::int64_t row_stride_c, const Update<T>& update) {
  EG_GEMM_UNROLL
  for (int i = 0; i < Rows; ++i) {
    EG_GEMM_UNROLL
    for (int j = 0; j < Vectors; ++j) {
      T* const to = c + i * row_stride_c + j * kLanes<T>;
      store(to,
            updated(sum[i][j], to, update.bias ? update.bias + j * kLanes<T> : nullptr, update));
    }
  }
}

/// Writes the first `columns` columns of a tile that sticks out of C.
template <class T, int Rows, int Vectors>
void write_edge_tile(const Vector<T> (&sum)[Rows][Vectors], T* c, std::int64_t row_stride_c,
                     int columns, const Update<T>& update) {
  constexpr int kWidth = Vectors * kLanes<T>;
  std::array<T, Rows * kWidth> tile;
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < Vectors; ++j) store(&tile[i * kWidth + j * kLanes<T>], sum[i][j]);
  }
  for (int i = 0; i < Rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      T& to = c[i * row_stride_c + j];
      T value = tile[i * kWidth + j] * update.alpha;
      if (update.beta != T{0}) value += update.beta * to;
      if (update.bias) value += update.bias[j];
      to = value;
    }
  }
}

/// Multiplies `depth` >= 1 steps of a strip and a panel and updates C. Step p of A is Rows
/// consecutive numbers at a + p * a_step, step p of B is Vectors vectors at b + p * b_step.
template <class T, int Rows, int Vectors>
void micro_kernel(std::int64_t depth, const T* a, std::int64_t a_step, const T* b,
                  std::int64_t b_step, T* c, std::int64_t row_stride_c, int columns,
                  const Update<T>& update) {
  Vector<T> sum[Rows][Vectors] = {};
  const int steps = static_cast<int>(depth);
  for (int p = 0; p < steps; ++p) {
    Vector<T> b_row[Vectors];
    EG_GEMM_UNROLL
    for (int j = 0; j < Vectors; ++j) b_row[j] = load(b + j * kLanes<T>);
    EG_GEMM_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const Vector<T> a_value = load_splat(a + i);
      EG_GEMM_UNROLL
      for (int j = 0; j < Vectors; ++j) sum[i][j] = multiply_add(a_value, b_row[j], sum[i][j]);
    }
    a += a_step;
    b += b_step;
  }
  if (columns == Vectors * kLanes<T>) {
    write_tile(sum, c, row_stride_c, update);
  } else {
    write_edge_tile(sum, c, row_stride_c, columns, update);
  }
}

template <class T>
using MicroKernel = void (*)(std::int64_t depth, const T* a, std::int64_t a_step, const T* b,
                             std::int64_t b_step, T* c, std::int64_t row_stride_c, int columns,
                             const Update<T>& update);

}  // namespace eg::gemm
