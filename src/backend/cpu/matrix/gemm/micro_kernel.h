#pragma once

// The register tile: kStripRows x kPanelColumns sums that stay in registers while one strip of A
// and one panel of B are read from end to end. Everything else in this folder exists to feed it.
//
// WebAssembly on x86-64 leaves a program 15 vector registers. With fused multiply-add, 6 rows of
// two vectors take 12 + 2 (B) + 1 (A). Without it, a multiplication followed by an addition needs
// one more register for the product, so the tile has 4 rows. (5 rows spill in V8 before version 12,
// and 6 rows always do, at half the speed; see tests/bench/gemm_bench.cpp.)

#include <cstddef>
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

template <class T>
EG_GEMM_INLINE const T* bytes_after(const T* from, std::ptrdiff_t bytes) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(from) + bytes);
}

/// Consecutive tiles of the same size, and where they are in memory. Depth steps are in bytes,
/// because an addition that also scales takes a port of the processor away from the
/// multiplications; all other distances are in elements.
template <class T>
struct TileRun {
  std::int64_t tiles;
  int depth;  ///< at least 1
  const T* a;
  std::ptrdiff_t a_step;  ///< between depth steps, for Reads::kColumns
  std::ptrdiff_t a_row;   ///< between rows, for Reads::kRows
  std::ptrdiff_t a_tile;  ///< between tiles
  const T* b;
  std::ptrdiff_t b_step;
  std::ptrdiff_t b_tile;
  T* c;
  std::ptrdiff_t c_row;
  std::ptrdiff_t c_tile;
  const T* addend;  ///< added to the sums; may be null
  std::ptrdiff_t addend_row;
  std::ptrdiff_t addend_tile;
};

/// How a kernel reads A. kColumns: the elements of a depth step are adjacent in memory. kRows:
/// every row is contiguous along the depth.
enum class Reads : bool { kColumns, kRows };

/// Multiplies strips and panels and writes the sums to C. A depth step of A has Rows elements, one
/// of B has Vectors vectors.
template <class T, int Rows, int Vectors, Reads A>
void micro_kernel(const TileRun<T>& run) {
  const int depth = run.depth;
  const T* a_tile = run.a;
  const T* b_tile = run.b;
  T* c_tile = run.c;
  const T* addend_tile = run.addend;
  for (std::int64_t tile = run.tiles; tile > 0; --tile) {
    const T* a = a_tile;
    const T* row[Rows];
    EG_GEMM_UNROLL
    for (int i = 0; i < Rows; ++i) row[i] = a_tile + i * run.a_row;
    const T* b = b_tile;
    const std::ptrdiff_t a_step = run.a_step;
    const std::ptrdiff_t b_step = run.b_step;
    Vector<T> sum[Rows][Vectors] = {};
    // Neither unrolled nor with its first step peeled: otherwise LLVM completes the sum of one
    // element before starting the next, or computes the address of `b` by a multiplication, and V8
    // runs out of registers.
    int left = depth;
    do {
      Vector<T> b_row[Vectors];
      EG_GEMM_UNROLL
      for (int j = 0; j < Vectors; ++j) b_row[j] = load(b + j * kLanes<T>);
      EG_GEMM_UNROLL
      for (int i = 0; i < Rows; ++i) {
        const Vector<T> a_value = load_splat(A == Reads::kRows ? row[i]++ : a + i);
        EG_GEMM_UNROLL
        for (int j = 0; j < Vectors; ++j) sum[i][j] = multiply_add(a_value, b_row[j], sum[i][j]);
      }
      a = bytes_after(a, a_step);
      b = bytes_after(b, b_step);
    } while (--left > 0);
    if (addend_tile) {
      const T* from = addend_tile;
      EG_GEMM_UNROLL
      for (int i = 0; i < Rows; ++i) {
        EG_GEMM_UNROLL
        for (int j = 0; j < Vectors; ++j) sum[i][j] += load(from + j * kLanes<T>);
        from += run.addend_row;
      }
      addend_tile += run.addend_tile;
    }
    const std::ptrdiff_t c_row = run.c_row;
    T* to = c_tile;
    EG_GEMM_UNROLL
    for (int i = 0; i < Rows; ++i) {
      EG_GEMM_UNROLL
      for (int j = 0; j < Vectors; ++j) store(to + j * kLanes<T>, sum[i][j]);
      to += c_row;
    }
    a_tile += run.a_tile;
    b_tile += run.b_tile;
    c_tile += run.c_tile;
  }
}

template <class T>
using MicroKernel = void (*)(const TileRun<T>& run);

/// How the sums of a tile are written: C = alpha * tile + beta * C + bias.
template <class T>
struct Update {
  T alpha;
  T beta;
  const T* bias;  // for the tile's first column, or null

  /// True when the sums are stored as they are or only have C or the bias added, which a kernel
  /// does itself.
  bool is_addition() const { return alpha == T{1} && (beta == T{0} || (beta == T{1} && !bias)); }
};

/// Updates `rows` x `columns` elements of C with a tile whose rows are kPanelColumns apart.
template <class T>
void update_tile(const T* tile, T* c, std::int64_t row_stride_c, std::int64_t rows, int columns,
                 const Update<T>& update) {
  const Vector<T> alpha = splat(update.alpha);
  const Vector<T> beta = splat(update.beta);
  const bool reads_c = update.beta != T{0};
  const T* const bias = update.bias;
  for (std::int64_t i = 0; i < rows; ++i) {
    int j = 0;
    for (; j + kLanes<T> <= columns; j += kLanes<T>) {
      Vector<T> value = load(tile + j) * alpha;
      if (reads_c) value += beta * load(c + j);
      if (bias) value += load(bias + j);
      store(c + j, value);
    }
    for (; j < columns; ++j) {
      T value = tile[j] * alpha[0];
      if (reads_c) value += beta[0] * c[j];
      if (bias) value += bias[j];
      c[j] = value;
    }
    tile += kPanelColumns<T>;
    c += row_stride_c;
  }
}

}  // namespace eg::gemm
