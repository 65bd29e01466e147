#include "backend/cpu/matrix/gemm/gemm.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "backend/cpu/matrix/gemm/gemv.h"
#include "backend/cpu/matrix/gemm/scratch.h"
#include "backend/cpu/matrix/gemm/tiles.h"
#include "runtime/thread_pool.h"

namespace eg::gemm {
namespace {

// Elements packed at a time from each operand: 1 MiB of floats, which together with the other
// operand stays in an L2 or L3 cache while it is used.
constexpr std::int64_t kPackedNumbers = 256 * 1024;

// Strips per task: about 96 rows, a packed block of A that stays in an L2 cache while the panels of
// B are streamed.
constexpr std::int64_t kTileStrips = 16;

// Products with fewer multiplications than this finish before other threads have woken up; see
// "threads" in tests/bench/gemm_bench.cpp.
constexpr std::int64_t kMinSharedWork = 512 * 1024;

// Larger products of a batch are each divided among all threads, one product after the other.
constexpr std::int64_t kMaxWorkDealtWhole = 8 * kMinSharedWork;

// Products up to this size take less time than setting up strips and panels.
constexpr std::int64_t kTinyWork = 128;

// With at most this many panels of B, a strip of A is read too rarely for packing to pay off.
constexpr std::int64_t kMaxPanelsForUnpackedA = 2;

// With at most this many panels, reading rows in place, which takes one address per row, is faster
// than packing them.
constexpr std::int64_t kMaxPanelsForRowsOfA = 16;

// Steps of depth that are packed from one stream before switching to the next one.
constexpr std::int64_t kInterleavedDepth = 16;

template <class T>
struct Problem {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  T alpha;
  Matrix<T> a;
  Matrix<T> b;
  T beta;
  T* c;
  std::int64_t row_stride_c;
  const T* bias;
};

/// One block of the product: rows of A times columns of B over a part of the depth.
template <class T>
class Block {
 public:
  Block(const Problem<T>& problem, std::int64_t row, std::int64_t rows, std::int64_t column,
        std::int64_t columns, std::int64_t first_depth, std::int64_t depth)
      : c_(problem.c + row * problem.row_stride_c + column),
        row_stride_c_(problem.row_stride_c),
        a_(problem.a),
        b_(problem.b),
        columns_(columns),
        depth_(depth),
        strips_(rows),
        panels_(divide_up(columns, kPanelColumns<T>)),
        reads_a_(reads(problem.a, panels_)),
        a_is_packed_(reads_a_ == Reads::kColumns &&
                     !(problem.a.row_stride == 1 && panels_ <= kMaxPanelsForUnpackedA)),
        b_is_packed_(!(problem.b.column_stride == 1 && strips_.size() == 1)),
        update_{
            problem.alpha, first_depth == 0 ? problem.beta : T{1},
            problem.bias && first_depth + depth == problem.k ? problem.bias + column : nullptr} {
    a_.data += row * a_.row_stride + first_depth * a_.column_stride;
    b_.data += first_depth * b_.row_stride + column * b_.column_stride;
  }

  std::int64_t strips() const { return strips_.size(); }
  std::int64_t panels() const { return panels_; }

  /// Sets the memory for the packed operands.
  void set_packed(T* a, T* b) {
    packed_a_ = a;
    packed_b_ = b;
  }

  void pack_strips(std::int64_t first, std::int64_t last) const {
    if (!a_is_packed_) return;
    for_each_run(a_.row_stride, [&](std::int64_t p, std::int64_t run) {
      for (std::int64_t i = first; i < last; ++i) {
        const std::size_t rows = strips_.rows(i);
        const std::int64_t row = strips_.begin(i);
        kStripPackers<T>[rows - 1](packed_a_ + row * depth_ + p * static_cast<std::int64_t>(rows),
                                   a_.data + row * a_.row_stride + p * a_.column_stride,
                                   a_.row_stride, a_.column_stride, static_cast<int>(rows), run);
      }
    });
  }

  void pack_panels(std::int64_t first, std::int64_t last) const {
    for_each_run(b_.column_stride, [&](std::int64_t p, std::int64_t run) {
      for (std::int64_t j = first; j < last; ++j) {
        if (!panel_is_packed(j)) continue;
        const std::size_t width = vectors(j);
        const std::int64_t column = j * kPanelColumns<T>;
        kPanelPackers<T>[width - 1](
            packed_b_ + column * depth_ + p * static_cast<std::int64_t>(width) * kLanes<T>,
            b_.data + column * b_.column_stride + p * b_.row_stride, b_.column_stride,
            b_.row_stride, panel_columns(j), run);
      }
    });
  }

  /// Multiplies the strips and panels of one tile, all of which are packed.
  void multiply(std::int64_t first_strip, std::int64_t last_strip, std::int64_t first_panel,
                std::int64_t last_panel) const {
    for (std::int64_t j = first_panel; j < last_panel; ++j)
      multiply_panel(first_strip, last_strip, j);
  }

 private:
  // Splits the depth into runs, so that packing alternates between adjacent strips or panels: they
  // share the cache lines and pages of every step.
  template <class Pack>
  void for_each_run(std::int64_t stream_stride, Pack&& pack) const {
    const std::int64_t run = stream_stride == 1 ? kInterleavedDepth : depth_;
    for (std::int64_t p = 0; p < depth_; p += run) pack(p, std::min(run, depth_ - p));
  }

  void multiply_panel(std::int64_t first_strip, std::int64_t last_strip, std::int64_t j) const {
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
    const std::int64_t column = j * kPanelColumns<T>;
    const int columns = panel_columns(j);
    const std::size_t width = vectors(j);
    const bool packed = panel_is_packed(j);
    const T* const b = packed ? packed_b_ + column * depth_ : b_.data + column;
    const auto b_step = static_cast<std::ptrdiff_t>(
        kSize * (packed ? static_cast<std::int64_t>(width) * kLanes<T> : b_.row_stride));
    const Update<T> update{update_.alpha, update_.beta,
                           update_.bias ? update_.bias + column : nullptr};
    const bool is_direct = columns % kLanes<T> == 0 && update.is_addition();
    const auto row_stride_c = static_cast<std::ptrdiff_t>(row_stride_c_);

    std::array<T, kStripRows * kPanelColumns<T>> tile;
    for (std::int64_t i = first_strip; i < last_strip;) {
      const auto rows = static_cast<std::int64_t>(strips_.rows(i));
      const std::int64_t row = strips_.begin(i);
      const MicroKernel<T> kernel = kernel_of(static_cast<std::size_t>(rows), width);
      TileRun<T> run{
          .tiles = 1,
          .depth = static_cast<int>(depth_),
          .a = a_is_packed_ ? packed_a_ + row * depth_ : a_.data + row * a_.row_stride,
          .a_step = static_cast<std::ptrdiff_t>(kSize * (a_is_packed_ ? rows : a_.column_stride)),
          .a_row = static_cast<std::ptrdiff_t>(a_.row_stride),
          .a_tile = static_cast<std::ptrdiff_t>(rows * (a_is_packed_ ? depth_ : a_.row_stride)),
          .b = b,
          .b_step = b_step,
          .b_tile = 0,
          .c = tile.data(),
          .c_row = kPanelColumns<T>,
          .c_tile = 0,
          .addend = nullptr,
          .addend_row = 0,
          .addend_tile = 0,
      };
      T* const c = c_ + row * row_stride_c_ + column;
      if (is_direct) {
        run.tiles = std::min(strips_.same_height(i), last_strip - i);
        run.c = c;
        run.c_row = row_stride_c;
        run.c_tile = static_cast<std::ptrdiff_t>(rows * row_stride_c_);
        const bool adds_c = update.beta != T{0};
        run.addend = adds_c ? c : update.bias;
        run.addend_row = adds_c ? run.c_row : 0;
        run.addend_tile = adds_c ? run.c_tile : 0;
        kernel(run);
      } else {
        kernel(run);
        update_tile(tile.data(), c, row_stride_c_, rows, columns, update);
      }
      i += run.tiles;
    }
  }

  // Products of doubles are too rare for a second set of kernels.
  static constexpr bool kCanReadRows = sizeof(T) == sizeof(float);

  static Reads reads(const Matrix<T>& a, std::int64_t panels) {
    const bool rows = kCanReadRows && a.column_stride == 1 && panels <= kMaxPanelsForRowsOfA;
    return rows ? Reads::kRows : Reads::kColumns;
  }

  MicroKernel<T> kernel_of(std::size_t rows, std::size_t vectors) const {
    if constexpr (kCanReadRows) {
      if (reads_a_ == Reads::kRows) return kKernels<T, Reads::kRows>[rows - 1][vectors - 1];
    }
    return kKernels<T, Reads::kColumns>[rows - 1][vectors - 1];
  }

  int panel_columns(std::int64_t j) const {
    return static_cast<int>(
        std::min<std::int64_t>(kPanelColumns<T>, columns_ - j * kPanelColumns<T>));
  }

  std::size_t vectors(std::int64_t j) const {
    return static_cast<std::size_t>(divide_up(panel_columns(j), kLanes<T>));
  }

  // A panel that extends beyond the edge of B is always packed, because the kernel reads whole
  // vectors.
  bool panel_is_packed(std::int64_t j) const {
    return b_is_packed_ || panel_columns(j) % kLanes<T> != 0;
  }

  T* c_;
  std::int64_t row_stride_c_;
  Matrix<T> a_;
  Matrix<T> b_;
  std::int64_t columns_;
  std::int64_t depth_;
  Strips strips_;
  std::int64_t panels_;
  Reads reads_a_;
  bool a_is_packed_;
  bool b_is_packed_;
  Update<T> update_;
  T* packed_a_ = nullptr;
  T* packed_b_ = nullptr;
};

/// Packs the operands that are not packed yet, then multiplies the tiles of the block. Both phases
/// are divided among `threads` threads.
template <class T>
void run_block(const Block<T>& block, bool pack_b, int threads) {
  const std::int64_t strips = block.strips();
  const std::int64_t panels = block.panels();
  const auto pack_range = [&](std::int64_t begin, std::int64_t end) {
    block.pack_strips(begin, std::min(end, strips));
    block.pack_panels(std::max<std::int64_t>(begin - strips, 0), end - strips);
  };
  const std::int64_t packs = strips + (pack_b ? panels : 0);
  if (threads == 1) {
    pack_range(0, packs);
    block.multiply(0, strips, 0, panels);
    return;
  }
  parallel_for(0, packs, 1, pack_range);

  // Enough tiles to balance the load among threads, but none so narrow that a packed strip is
  // hardly reused.
  const std::int64_t tile_rows = divide_up(strips, kTileStrips);
  const std::int64_t tile_columns = std::clamp<std::int64_t>(
      divide_up(std::int64_t{4} * threads, tile_rows), 1, divide_up(panels, 4));
  parallel_for(0, tile_rows * tile_columns, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t tile = begin; tile < end; ++tile) {
      const std::int64_t i = tile / tile_columns;
      const std::int64_t j = tile % tile_columns;
      block.multiply(i * strips / tile_rows, (i + 1) * strips / tile_rows,
                     j * panels / tile_columns, (j + 1) * panels / tile_columns);
    }
  });
}

template <class T>
void multiply_blocked(const Problem<T>& p) {
  const bool shared = p.m * p.n * p.k >= kMinSharedWork && !in_parallel_region();
  const int threads = shared ? num_threads() : 1;

  // Equal parts, so that the last one is not much smaller.
  const std::int64_t depth = divide_up(p.k, divide_up(p.k, kMaxDepth));
  const std::int64_t most = kPackedNumbers / depth;
  const std::int64_t columns = std::min(p.n, most / kPanelColumns<T> * kPanelColumns<T>);
  // A single thread packs a tile of A right before multiplying it; several threads pack all tiles
  // first.
  const std::int64_t rows = std::min({p.m, most, threads == 1 ? kTileStrips * kStripRows : most});

  const std::int64_t a_count = divide_up(rows * depth, 16) * 16;
  const std::int64_t b_count = divide_up(columns, kPanelColumns<T>) * kPanelColumns<T> * depth;
  T* const packed_a = thread_scratch().take<T>(a_count + b_count);
  T* const packed_b = packed_a + a_count;

  for (std::int64_t column = 0; column < p.n; column += columns) {
    for (std::int64_t first = 0; first < p.k; first += depth) {
      for (std::int64_t row = 0; row < p.m; row += rows) {
        Block<T> block(p, row, std::min(rows, p.m - row), column, std::min(columns, p.n - column),
                       first, std::min(depth, p.k - first));
        block.set_packed(packed_a, packed_b);
        run_block(block, row == 0, threads);
      }
    }
  }
}

/// Computes C = beta * C + bias, the result for depth 0.
template <class T>
void scale(const Problem<T>& p) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      T& to = p.c[i * p.row_stride_c + j];
      const T scaled = p.beta == T{0} ? T{0} : p.beta * to;
      to = p.bias ? scaled + p.bias[j] : scaled;
    }
  }
}

template <class T>
void multiply_tiny(const Problem<T>& p) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    const T* const a = p.a.data + i * p.a.row_stride;
    for (std::int64_t j = 0; j < p.n; ++j) {
      const T* const b = p.b.data + j * p.b.column_stride;
      T sum{0};
      for (std::int64_t q = 0; q < p.k; ++q) {
        sum += a[q * p.a.column_stride] * b[q * p.b.row_stride];
      }
      T& to = p.c[i * p.row_stride_c + j];
      T value = p.alpha * sum;
      if (p.beta != T{0}) value += p.beta * to;
      if (p.bias) value += p.bias[j];
      to = value;
    }
  }
}

template <class T>
void multiply_vector_matrix(const Problem<T>& p) {
  multiply(VectorProduct<T>{p.n, p.k, p.alpha, p.a.data, p.a.column_stride, p.b, p.beta, p.c, 1,
                            p.bias, 1});
}

template <class T>
void multiply_matrix_vector(const Problem<T>& p) {
  const Matrix<T> a_transposed{p.a.data, p.a.column_stride, p.a.row_stride};
  multiply(VectorProduct<T>{p.m, p.k, p.alpha, p.b.data, p.b.row_stride, a_transposed, p.beta, p.c,
                            p.row_stride_c, p.bias, 0});
}

template <class T>
void multiply(const Problem<T>& p) {
  if (p.m <= 0 || p.n <= 0) return;
  if (p.k <= 0) {
    scale(p);
  } else if (p.m * p.n * p.k <= kTinyWork) {
    multiply_tiny(p);
  } else if (p.m == 1) {
    multiply_vector_matrix(p);
  } else if (p.n == 1) {
    multiply_matrix_vector(p);
  } else {
    multiply_blocked(p);
  }
}

}  // namespace

template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<T> a, Matrix<T> b, T beta,
          T* c, std::int64_t row_stride_c, const T* bias) {
  multiply(Problem<T>{m, n, k, alpha, a, b, beta, c, row_stride_c, bias});
}

template <class T>
void batched_gemm(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                  Matrix<T> a, std::int64_t batch_stride_a, Matrix<T> b,
                  std::int64_t batch_stride_b, T beta, T* c, std::int64_t batch_stride_c,
                  std::int64_t row_stride_c, const T* bias) {
  if (batch <= 0 || m <= 0 || n <= 0) return;
  // If consecutive matrices share one B, the batch is a single tall product.
  if (batch_stride_b == 0 && batch_stride_a == m * a.row_stride &&
      batch_stride_c == m * row_stride_c) {
    gemm(batch * m, n, k, alpha, a, b, beta, c, row_stride_c, bias);
    return;
  }
  const auto multiply_range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      multiply(Problem<T>{m,
                          n,
                          k,
                          alpha,
                          {a.data + i * batch_stride_a, a.row_stride, a.column_stride},
                          {b.data + i * batch_stride_b, b.row_stride, b.column_stride},
                          beta,
                          c + i * batch_stride_c,
                          row_stride_c,
                          bias});
    }
  };
  // Small products are distributed whole; large ones are each divided among all threads, so no
  // thread idles while another one computes the last product.
  const std::int64_t work = std::max<std::int64_t>(m * n * k, 1);
  const std::int64_t grain =
      work < kMaxWorkDealtWhole ? divide_up(kMinSharedWork / 2, work) : batch;
  parallel_for(0, batch, grain, multiply_range);
}

template void gemm(std::int64_t, std::int64_t, std::int64_t, float, Matrix<float>, Matrix<float>,
                   float, float*, std::int64_t, const float*);
template void gemm(std::int64_t, std::int64_t, std::int64_t, double, Matrix<double>, Matrix<double>,
                   double, double*, std::int64_t, const double*);
template void batched_gemm(std::int64_t, std::int64_t, std::int64_t, std::int64_t, float,
                           Matrix<float>, std::int64_t, Matrix<float>, std::int64_t, float, float*,
                           std::int64_t, std::int64_t, const float*);
template void batched_gemm(std::int64_t, std::int64_t, std::int64_t, std::int64_t, double,
                           Matrix<double>, std::int64_t, Matrix<double>, std::int64_t, double,
                           double*, std::int64_t, std::int64_t, const double*);

}  // namespace eg::gemm
