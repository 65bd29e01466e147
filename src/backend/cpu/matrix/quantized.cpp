// Products with matrices of few bits. For a few rows, as in generating a text, the time is that of
// reading the codes: they are multiplied in the registers in which they are decoded, or as
// integers. For more rows, a block of the matrix that stays in a cache is decoded and multiplied by
// gemm.

#include "kernels/quantized.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "backend/cpu/matrix/gemm/gemm.h"
#include "backend/cpu/matrix/gemm/gemv.h"
#include "backend/cpu/matrix/gemm/scratch.h"
#include "backend/cpu/matrix/quantized_dot.h"
#include "backend/cpu/matrix/quantized_rows.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using kernel::QuantizedProduct;

// With more rows than this, decoding a block once for all of them is faster.
constexpr std::int64_t kMostRowsInRegisters = 4;

// Rows of the matrix that are multiplied together if they are long.
constexpr int kRowsAtOnce = 4;

// A decoded block has at most 256 KiB. With at most 128 columns, gemm reads the other operand in
// place.
constexpr std::int64_t kBlockColumns = 128;
constexpr std::int64_t kBlockDepth = 512;

// Codes per task, so that the work outweighs waking a thread.
constexpr std::int64_t kMinCodesPerTask = 2 * kMinElementsPerTask;

/// Rows of codes with their scales.
template <class Format>
class CodeRows {
 public:
  explicit CodeRows(const QuantizedProduct& p)
      : layout_(p.layout),
        row_bytes_(p.layout.row_bytes()),
        groups_(p.layout.groups()),
        codes_(static_cast<const std::uint8_t*>(p.codes.bytes())),
        scales_(p.scales ? p.scales.as<float>() : nullptr) {}

  const std::uint8_t* codes(std::int64_t row, std::int64_t column) const {
    return codes_ + row * row_bytes_ + column * Format::kBits / 8;
  }
  const float* scales(std::int64_t row) const { return scales_ + row * groups_; }
  float scale(std::int64_t row, std::int64_t group) const {
    return scales_ == nullptr ? 1 : scales_[row * groups_ + group];
  }

  /// Calls use(group, first, last) for the parts of [begin, end) that have one scale each; `begin`
  /// is a multiple of 32.
  template <class Use>
  EG_GEMM_INLINE void for_each_group(std::int64_t begin, std::int64_t end, Use&& use) const {
    std::int64_t group = begin / layout_.group;
    for (std::int64_t first = begin; first < end; ++group) {
      const std::int64_t last = std::min(end, (group + 1) * layout_.group);
      use(group, first, last);
      first = last;
    }
  }

  /// The codes of less than 32 columns at the end of a row, where a whole vector could reach past
  /// the end of the memory.
  auto last_codes(std::int64_t row, std::int64_t column) const {
    std::array<std::uint8_t, kColumnsAtOnce * Format::kBits / 8> copy{};
    std::copy(codes(row, column), codes(row + 1, 0), copy.begin());
    return copy;
  }

  /// Writes the numbers of columns [begin, end) of a row; `begin` is a multiple of 32.
  void decode(std::int64_t row, std::int64_t begin, std::int64_t end, float* to) const {
    for_each_group(begin, end, [&](std::int64_t group, std::int64_t first, std::int64_t last) {
      const Floats factor = splat(scale(row, group));
      std::int64_t column = first;
      for (; column + kColumnsAtOnce <= last; column += kColumnsAtOnce) {
        float* const at = to + (column - begin);
        Format::for_each_number(codes(row, column), [&](int i, Floats numbers) {
          gemm::store(at + i * kLanes<float>, numbers * factor);
        });
      }
      if (column == last) return;
      std::array<float, kColumnsAtOnce> rest;
      Format::for_each_number(last_codes(row, column).data(), [&](int i, Floats numbers) {
        gemm::store(rest.data() + i * kLanes<float>, numbers * factor);
      });
      std::copy_n(rest.data(), last - column, to + (column - begin));
    });
  }

  /// Computes the products of `kCount` rows of X, `stride` apart, with `kRows` rows from `row` on:
  /// out[i][j] belongs to row i of X. The rows of X are zero from the last column to a multiple of
  /// 32.
  template <int kCount, int kRows>
  void multiply(const float* x, std::int64_t stride, std::int64_t row,
                float (&out)[kCount][kRows]) const {
    // Several sums, because an addition has to wait for the one before it.
    constexpr int kSums = kRows == 1 ? 4 : 1;
    Floats total[kCount][kRows] = {};
    for_each_group(
        0, layout_.columns, [&](std::int64_t group, std::int64_t first, std::int64_t last) {
          Floats sum[kCount][kRows][kSums] = {};
          const auto add = [&](int j, const std::uint8_t* from, std::int64_t column) {
            Format::for_each_number(from, [&](int v, Floats numbers) {
              EG_GEMM_UNROLL
              for (int i = 0; i < kCount; ++i) {
                const Floats own = gemm::load(x + i * stride + column + v * kLanes<float>);
                sum[i][j][v % kSums] = multiply_add(numbers, own, sum[i][j][v % kSums]);
              }
            });
          };
          std::int64_t column = first;
          for (; column + kColumnsAtOnce <= last; column += kColumnsAtOnce) {
            EG_GEMM_UNROLL
            for (int j = 0; j < kRows; ++j) add(j, codes(row + j, column), column);
          }
          if (column < last) {
            for (int j = 0; j < kRows; ++j) add(j, last_codes(row + j, column).data(), column);
          }
          EG_GEMM_UNROLL
          for (int j = 0; j < kRows; ++j) {
            const Floats factor = splat(scale(row + j, group));
            EG_GEMM_UNROLL
            for (int i = 0; i < kCount; ++i) {
              Floats all = sum[i][j][0];
              EG_GEMM_UNROLL
              for (int v = 1; v < kSums; ++v) all += sum[i][j][v];
              total[i][j] = multiply_add(all, factor, total[i][j]);
            }
          }
        });
    for (int i = 0; i < kCount; ++i) {
      for (int j = 0; j < kRows; ++j) {
        const Floats lanes = total[i][j];
        out[i][j] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
      }
    }
  }

 private:
  const kernel::CodeLayout& layout_;
  std::int64_t row_bytes_;
  std::int64_t groups_;
  const std::uint8_t* codes_;
  const float* scales_;
};

/// The rows of X with zeros up to a multiple of 32 columns: X itself if it needs none.
class PaddedRows {
 public:
  explicit PaddedRows(const QuantizedProduct& p)
      : rows_(p.x.as<float>()),
        stride_(divide_up(p.layout.columns, kColumnsAtOnce) * kColumnsAtOnce) {
    if (stride_ == p.layout.columns) return;
    float* const copy = scratch_.take<float>(p.count * stride_);
    std::fill_n(copy, p.count * stride_, 0.0F);
    for (std::int64_t i = 0; i < p.count; ++i)
      std::copy_n(rows_ + i * p.layout.columns, p.layout.columns, copy + i * stride_);
    rows_ = copy;
  }

  const float* row(std::int64_t i) const { return rows_ + i * stride_; }
  std::int64_t stride() const { return stride_; }

 private:
  gemm::Scratch scratch_;
  const float* rows_;
  std::int64_t stride_;
};

template <class Format, int kCount, int kRows>
void multiply_in_registers(const QuantizedProduct& p, const CodeRows<Format>& matrix,
                           const PaddedRows& x, std::int64_t first, std::int64_t row) {
  float sums[kCount][kRows];
  matrix.template multiply<kCount, kRows>(x.row(first), x.stride(), row, sums);
  const float* const bias = p.bias.as<float>();
  for (std::int64_t i = 0; i < kCount; ++i) {
    float* const y = p.y.as<float>() + (first + i) * p.layout.rows + row;
    for (std::int64_t j = 0; j < kRows; ++j) y[j] = sums[i][j] + (p.bias ? bias[row + j] : 0.0F);
  }
}

/// Multiplies all rows of X with `kRows` rows of the matrix, which stay in the cache meanwhile.
template <class Format, int kRows>
void multiply_rows(const QuantizedProduct& p, const CodeRows<Format>& matrix, const PaddedRows& x,
                   std::int64_t row) {
  std::int64_t i = 0;
  for (; i + 2 <= p.count; i += 2) multiply_in_registers<Format, 2, kRows>(p, matrix, x, i, row);
  if (i < p.count) multiply_in_registers<Format, 1, kRows>(p, matrix, x, i, row);
}

/// One row of the matrix after the other, so that memory is read in order, or a few long ones.
template <class Format>
void multiply_few(const QuantizedProduct& p) {
  const auto& [rows, columns, bits, group] = p.layout;
  const PaddedRows x(p);
  const CodeRows<Format> matrix(p);
  const bool is_long = columns * std::int64_t{sizeof(float)} > gemm::kLongVector;
  const std::int64_t runs = divide_up(rows, kRowsAtOnce);
  const std::int64_t grain = divide_up(kMinCodesPerTask, kRowsAtOnce * columns * p.count);
  parallel_for(0, runs, grain, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t row = begin * kRowsAtOnce;
    const std::int64_t last = std::min(end * kRowsAtOnce, p.layout.rows);
    for (; is_long && row + kRowsAtOnce <= last; row += kRowsAtOnce)
      multiply_rows<Format, kRowsAtOnce>(p, matrix, x, row);
    for (; row < last; ++row) multiply_rows<Format, 1>(p, matrix, x, row);
  });
}

/// The same for 4 bits, in integers; false if X has numbers that are not finite.
bool multiply_few_integers(const QuantizedProduct& p) {
  const auto& [rows, columns, bits, group] = p.layout;
  const SplitRows x(p);
  if (!x.is_finite()) return false;
  const CodeRows<Quantized<4>> matrix(p);
  const float* const bias = p.bias.as<float>();
  const auto multiply = [&]<int kCount>(std::int64_t first, std::int64_t row) {
    float sums[kCount];
    multiply_integers(x, first, matrix, row, p.layout, sums);
    for (std::int64_t i = 0; i < kCount; ++i)
      p.y.as<float>()[(first + i) * p.layout.rows + row] = sums[i] + (p.bias ? bias[row] : 0.0F);
  };
  const std::int64_t grain = divide_up(kMinCodesPerTask, columns * p.count);
  parallel_for(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t i = 0;
      for (; i + 2 <= p.count; i += 2) multiply.template operator()<2>(i, row);
      if (i < p.count) multiply.template operator()<1>(i, row);
    }
  });
  return true;
}

float* block_scratch() {
  static thread_local gemm::Scratch scratch;
  return scratch.take<float>(kBlockColumns * kBlockDepth);
}

/// Calls body(begin, end) for blocks of [0, columns), on several threads.
template <class Body>
void for_each_block(const QuantizedProduct& p, std::int64_t columns, Body&& body) {
  // Several blocks per thread, so that none waits long for the last one.
  const std::int64_t share = divide_up(columns, std::int64_t{4} * num_threads());
  const std::int64_t width =
      std::min(divide_up(share, kColumnsAtOnce) * kColumnsAtOnce, kBlockColumns);
  const std::int64_t work = p.count * p.layout.rows * p.layout.columns / columns * width;
  const std::int64_t grain = divide_up(kMinCodesPerTask, std::max<std::int64_t>(work, 1));
  parallel_for(0, divide_up(columns, width), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block)
      body(block * width, std::min((block + 1) * width, columns));
  });
}

/// Y = X Wᵀ + bias: a block has rows of the matrix, and a part of the depth at a time.
template <class Format>
void multiply_many(const QuantizedProduct& p) {
  const auto& [rows, columns, bits, group] = p.layout;
  const CodeRows<Format> matrix(p);
  for_each_block(p, rows, [&](std::int64_t begin, std::int64_t end) {
    float* const block = block_scratch();
    for (std::int64_t first = 0; first < columns; first += kBlockDepth) {
      const std::int64_t last = std::min(first + kBlockDepth, columns);
      for (std::int64_t row = begin; row < end; ++row)
        matrix.decode(row, first, last, block + (row - begin) * kBlockDepth);
      const bool adds_bias = p.bias && last == columns;
      gemm::gemm<float>(p.count, end - begin, last - first, 1,
                        {p.x.as<float>() + first, columns, 1}, {block, 1, kBlockDepth},
                        first == 0 ? 0 : 1, p.y.as<float>() + begin, rows,
                        adds_bias ? p.bias.as<float>() + begin : nullptr);
    }
  });
}

/// Y = X W: a block has columns of the matrix.
template <class Format>
void multiply_turned(const QuantizedProduct& p) {
  const auto& [rows, columns, bits, group] = p.layout;
  const CodeRows<Format> matrix(p);
  for_each_block(p, columns, [&](std::int64_t begin, std::int64_t end) {
    float* const block = block_scratch();
    for (std::int64_t first = 0; first < rows; first += kBlockDepth) {
      const std::int64_t last = std::min(first + kBlockDepth, rows);
      for (std::int64_t row = first; row < last; ++row)
        matrix.decode(row, begin, end, block + (row - first) * kBlockColumns);
      const bool adds_bias = p.bias && last == rows;
      gemm::gemm<float>(p.count, end - begin, last - first, 1, {p.x.as<float>() + first, rows, 1},
                        {block, kBlockColumns, 1}, first == 0 ? 0 : 1, p.y.as<float>() + begin,
                        columns, adds_bias ? p.bias.as<float>() + begin : nullptr);
    }
  });
}

/// Writes the codes of `count` numbers of a group, and returns their scale.
template <int kBits>
float quantize_group(const float* x, std::int64_t count, std::uint8_t* codes) {
  constexpr float kZero = 1 << (kBits - 1);
  float extreme = 0;
  // Comparisons with NaN are false, so that a NaN stays.
  for (std::int64_t i = 0; i < count; ++i)
    extreme = std::abs(x[i]) <= std::abs(extreme) || extreme != extreme ? extreme : x[i];
  const float scale = extreme / -kZero;
  const float divisor = extreme == 0 ? 1 : scale;
  const auto code = [&](std::int64_t i) {
    const float place = std::nearbyint(x[i] / divisor) + kZero;
    return static_cast<std::uint8_t>(place > 0 ? std::min(place, 2 * kZero - 1) : 0);
  };
  if constexpr (kBits == 8) {
    for (std::int64_t i = 0; i < count; ++i) codes[i] = code(i);
  } else {
    for (std::int64_t i = 0; i < count; i += 2) {
      const int upper = i + 1 < count ? code(i + 1) : 0;
      codes[i / 2] = static_cast<std::uint8_t>(code(i) | upper << 4);
    }
  }
  return scale;
}

template <int kBits>
void quantize(const kernel::Quantize& call) {
  const kernel::CodeLayout& layout = call.layout;
  const std::int64_t groups = layout.groups();
  const std::int64_t grain =
      divide_up(kMinElementsPerTask, std::max<std::int64_t>(layout.columns, 1));
  parallel_for(0, layout.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float* const x = call.x.as<float>() + row * layout.columns;
      std::uint8_t* const codes = call.codes.as<std::uint8_t>() + row * layout.row_bytes();
      for (std::int64_t group = 0; group < groups; ++group) {
        const std::int64_t first = group * layout.group;
        const std::int64_t count = std::min(layout.group, layout.columns - first);
        call.scales.as<float>()[row * groups + group] =
            quantize_group<kBits>(x + first, count, codes + first * kBits / 8);
      }
    }
  });
}

template <class Format>
void multiply(const QuantizedProduct& p) {
  if (p.turned) return multiply_turned<Format>(p);
  if (p.count > kMostRowsInRegisters) return multiply_many<Format>(p);
  if constexpr (Format::kBits == 4) {
    if (multiply_few_integers(p)) return;
  }
  multiply_few<Format>(p);
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void Quantize::compute_on_cpu() const {
  if (layout.bits == 4)
    cpu::quantize<4>(*this);
  else
    cpu::quantize<8>(*this);
}

void QuantizedProduct::compute_on_cpu() const {
  if (codes.dtype() == DType::kBFloat16)
    cpu::multiply<cpu::BFloat16>(*this);
  else if (codes.dtype() == DType::kFloat16)
    cpu::multiply<cpu::Float16>(*this);
  else if (layout.bits == 4)
    cpu::multiply<cpu::Quantized<4>>(*this);
  else
    cpu::multiply<cpu::Quantized<8>>(*this);
}

}  // namespace eg::kernel
