// Products with matrices of few bits. For a few rows, as in generating a text, the time is that of
// reading the codes: they are multiplied in the registers in which they are decoded, or as
// integers. For more rows, a block of the matrix that stays in a cache is decoded and multiplied by
// gemm.

#include "kernels/quantized.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/matrix/code_rows.h"
#include "backend/cpu/matrix/float_dot.h"
#include "backend/cpu/matrix/gemm/gemm.h"
#include "backend/cpu/matrix/gemm/gemv.h"
#include "backend/cpu/matrix/gemm/scratch.h"
#include "backend/cpu/matrix/integer_dot.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using kernel::QuantizedProduct;

// With more rows than this, decoding a block once for all of them is faster.
constexpr std::int64_t kMostRowsInRegisters = 4;

// Rows of the matrix that are multiplied together if they are long, so that they share what is
// loaded of X.
constexpr int kLongRows = 4;

// A decoded block has at most 256 KiB. With at most 128 columns, gemm reads the other operand in
// place.
constexpr std::int64_t kBlockColumns = 128;
constexpr std::int64_t kBlockDepth = 512;

// Codes per task, so that the work outweighs waking a thread.
constexpr std::int64_t kMinCodesPerTask = 2 * kMinElementsPerTask;

/// Multiplies all rows of X with `kRows` rows of the matrix, which stay in the cache meanwhile.
template <int kRows, class Dots>
void multiply_rows(const QuantizedProduct& p, const Dots& dots, std::int64_t row) {
  const float* const bias = p.bias.as<float>();
  const auto multiply = [&]<int kCount>(std::int64_t first) {
    float sums[kCount][kRows];
    dots.multiply(first, row, sums);
    for (std::int64_t i = 0; i < kCount; ++i) {
      float* const y = p.y.as<float>() + (first + i) * p.layout.rows + row;
      for (std::int64_t j = 0; j < kRows; ++j) y[j] = sums[i][j] + (p.bias ? bias[row + j] : 0.0F);
    }
  };
  std::int64_t i = 0;
  for (; i + 2 <= p.count; i += 2) multiply.template operator()<2>(i);
  if (i < p.count) multiply.template operator()<1>(i);
}

/// Multiplies `kRows` rows of the matrix at a time with all rows of X.
template <int kRows, class Dots>
void multiply_few(const QuantizedProduct& p, const Dots& dots) {
  const std::int64_t rows = p.layout.rows;
  const std::int64_t grain =
      divide_up(kMinCodesPerTask, std::max<std::int64_t>(1, kRows * p.layout.columns * p.count));
  parallel_for(0, divide_up(rows, kRows), grain, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t row = begin * kRows;
    const std::int64_t last = std::min(end * kRows, rows);
    for (; row + kRows <= last; row += kRows) multiply_rows<kRows>(p, dots, row);
    for (; row < last; ++row) multiply_rows<1>(p, dots, row);
  });
}

/// In integers, if X permits it; else one row of the matrix after the other, so that memory is read
/// in order, or a few long ones.
template <class Format>
void multiply_few(const QuantizedProduct& p) {
  if constexpr (Format::kBits < 16) {
    const IntegerDots<Format::kBits> dots(p);
    if (dots.fit()) return multiply_few<1>(p, dots);
  }
  const FloatDots<Format> dots(p);
  const bool is_long = p.layout.columns * std::int64_t{sizeof(float)} > gemm::kLongVector;
  if (is_long)
    multiply_few<kLongRows>(p, dots);
  else
    multiply_few<1>(p, dots);
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
