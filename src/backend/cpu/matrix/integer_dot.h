#pragma once

// Products of codes of 4 and 8 bits with float32 numbers in integer arithmetic, which multiplies
// and adds eight pairs per instruction instead of four, and converts sums to float instead of every
// code: 1.3 times as many codes per second with 8 bits, 1.5 times with 4 bits.
//
// 32 or 256 numbers share a scale, the power of two that makes the largest of them an integer of 15
// bits. Each number becomes two integers: a multiple of the scale, and the rest in parts that are
// 2^15 times smaller. Numbers of at least a 64th of the largest one are exactly represented, the
// others to a 2^29th of it, and sums of products are exact until they are converted.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

#include "backend/cpu/matrix/code_rows.h"
#include "backend/cpu/matrix/gemm/scratch.h"
#include "backend/cpu/matrix/gemm/vector.h"
#include "base/divide_up.h"
#include "kernels/quantized.h"

namespace eg::cpu {

using Shorts = Vec<std::int16_t>;
using Ints = Vec<std::int32_t>;

namespace detail {

/// The sums of products of neighboring lanes.
EG_GEMM_INLINE Ints multiply_pairs(Shorts a, Shorts b) {
#ifdef __SSE4_1__
  return std::bit_cast<Ints>(_mm_madd_epi16(std::bit_cast<__m128i>(a), std::bit_cast<__m128i>(b)));
#else
  Ints sums;
  for (int i = 0; i < 4; ++i) sums[i] = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
  return sums;
#endif
}

/// The integers of 32 columns. With 4 bits those of the even columns come first.
template <int kBits>
EG_GEMM_INLINE void load_integers(const std::uint8_t* from, Shorts (&numbers)[4]) {
  using Bytes = Vec<std::int8_t>;
  Bytes halves[2];
  if constexpr (kBits == 4) {
    const auto codes = load_as<Codes>(from);
    const auto mask = splat<std::uint8_t>(15);
    const auto zero = splat<std::uint8_t>(8);
    const auto upper = std::bit_cast<Codes>(std::bit_cast<Pairs>(codes) >> splat<std::uint16_t>(4));
    halves[0] = std::bit_cast<Bytes>((codes & mask) - zero);
    halves[1] = std::bit_cast<Bytes>((upper & mask) - zero);
  } else {
    const auto zero = splat<std::uint8_t>(128);
    halves[0] = std::bit_cast<Bytes>(load_as<Codes>(from) - zero);
    halves[1] = std::bit_cast<Bytes>(load_as<Codes>(from + sizeof(Codes)) - zero);
  }
  EG_GEMM_UNROLL
  for (int i = 0; i < 2; ++i) {
    const Bytes half = halves[i];
    const auto lower = __builtin_shufflevector(half, half, 0, 1, 2, 3, 4, 5, 6, 7);
    const auto upper = __builtin_shufflevector(half, half, 8, 9, 10, 11, 12, 13, 14, 15);
    numbers[2 * i] = __builtin_convertvector(lower, Shorts);
    numbers[2 * i + 1] = __builtin_convertvector(upper, Shorts);
  }
}

}  // namespace detail

/// Rows of X as integers, in the order in which codes of `kBits` become integers.
template <int kBits>
class SplitRows {
 public:
  explicit SplitRows(const kernel::QuantizedProduct& p)
      : stride_(divide_up(p.layout.columns, kColumnsAtOnce) * kIntegers),
        blocks_(divide_up(p.layout.columns, kBlock)),
        integers_(integer_memory_.take<std::int16_t>(p.count * stride_)),
        scales_(scale_memory_.take<float>(p.count * blocks_)) {
    std::fill_n(integers_, p.count * stride_, std::int16_t{0});
    for (std::int64_t i = 0; i < p.count; ++i) {
      const float* const row = p.x.as<float>() + i * p.layout.columns;
      for (std::int64_t block = 0; block < blocks_; ++block) {
        const std::int64_t first = block * kBlock;
        scales_[i * blocks_ + block] =
            split(row + first, std::min(kBlock, p.layout.columns - first),
                  integers_ + i * stride_ + first / kColumnsAtOnce * kIntegers);
      }
    }
  }

  /// False if there are numbers that integers cannot be: infinite, NaN, or too small for a scale.
  bool fit() const { return fit_; }

  const std::int16_t* integers(std::int64_t row) const { return integers_ + row * stride_; }
  const float* scales(std::int64_t row) const { return scales_ + row * blocks_; }

  /// The integers of a row.
  std::int64_t stride() const { return stride_; }
  /// The scales of a row.
  std::int64_t blocks() const { return blocks_; }

  /// Columns that share a scale. With codes of 4 bits, which mostly have groups of 32, sums of more
  /// columns are rare; with 8 bits those of 2,048 would still be exact.
  static constexpr std::int64_t kBlock = kBits == 4 ? kColumnsAtOnce : 256;
  /// Of 32 columns: first the multiples of the scale, then the rests.
  static constexpr std::int64_t kIntegers = 2 * kColumnsAtOnce;
  static constexpr float kPart = 0x1p-15F;

 private:
  // Writes the integers of a block and returns their scale.
  float split(const float* x, std::int64_t count, std::int16_t* to) {
    std::uint32_t largest = 0;
    for (std::int64_t i = 0; i < count; ++i)
      largest = std::max(largest, std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffff);
    if (largest == 0) return 0;
    // As in the bits of a float, 127 more than the power of two.
    const std::uint32_t exponent = largest >> 23;
    if (exponent == 255 || exponent < 15) {
      fit_ = false;
      return 0;
    }
    const auto power = [](std::uint32_t biased) { return std::bit_cast<float>(biased << 23); };
    const float per_scale = power(254 + 14 - exponent);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t column = i % kColumnsAtOnce;
      std::int16_t* const own = to + i / kColumnsAtOnce * kIntegers;
      const std::int64_t place =
          kBits == 4 ? column % 2 * (kColumnsAtOnce / 2) + column / 2 : column;
      // All of it is exact but for the last conversion.
      const float whole = x[i] * per_scale;
      const auto multiple = static_cast<std::int16_t>(whole);
      own[place] = multiple;
      own[kColumnsAtOnce + place] = static_cast<std::int16_t>((whole - multiple) / kPart);
    }
    return power(exponent - 14);
  }

  std::int64_t stride_;
  std::int64_t blocks_;
  gemm::Scratch integer_memory_;
  gemm::Scratch scale_memory_;
  std::int16_t* integers_;
  float* scales_;
  bool fit_ = true;
};

template <int kBits>
class IntegerDots {
 public:
  explicit IntegerDots(const kernel::QuantizedProduct& p) : rows_(p), x_(p) {}

  /// Whether the numbers of X can be integers.
  bool fit() const { return x_.fit(); }

  /// Like FloatDots::multiply(), for one row of codes: memory that is read in order is faster than
  /// sharing what is loaded of X.
  template <int kCount>
  void multiply(std::int64_t first, std::int64_t row, float (&out)[kCount][1]) const {
    // As wide as a pointer: on a 32-bit target, 64-bit arithmetic would take as long as the
    // products.
    using Count = std::ptrdiff_t;
    constexpr Count kBytes = kColumnsAtOnce * kBits / 8;
    constexpr auto kBlock = static_cast<Count>(SplitRows<kBits>::kBlock / kColumnsAtOnce);
    const kernel::CodeLayout& layout = rows_.layout();
    const auto group = static_cast<Count>(layout.group / kColumnsAtOnce);
    const std::uint8_t* codes = rows_.codes(row, 0);
    const std::int16_t* integers = x_.integers(first);
    const float* factor = rows_.scales(row);
    const float* scale = x_.scales(first);
    Floats total[kCount][1] = {};
    // Both counts are those of 32 columns.
    Count left_in_group = group;
    Count left_in_block = kBlock;
    for (auto left = static_cast<Count>(layout.columns / kColumnsAtOnce); left > 0;) {
      const Count count = kBlock == 1 ? 1 : std::min({left, left_in_group, left_in_block});
      Ints sum[kCount][2] = {};
      for (Count n = count; n > 0; --n) {
        add(codes, integers, sum);
        codes += kBytes;
        integers += SplitRows<kBits>::kIntegers;
      }
      finish(sum, scale, *factor, total);
      left -= count;
      left_in_group -= count;
      left_in_block -= count;
      if (left_in_group == 0) {
        ++factor;
        left_in_group = group;
      }
      if (left_in_block == 0) {
        ++scale;
        left_in_block = kBlock;
      }
    }
    if (const std::int64_t rest = layout.columns % kColumnsAtOnce; rest > 0) {
      const auto last = rows_.last_codes(row, layout.columns - rest);
      Ints sum[kCount][2] = {};
      add(last.data(), integers, sum);
      finish(sum, scale, *factor, total);
    }
    add_lanes(total, out);
  }

 private:
  // Adds the products of 32 columns to the sums: of the multiples of scales, and of the rests.
  template <int kCount>
  EG_GEMM_INLINE void add(const std::uint8_t* codes, const std::int16_t* integers,
                          Ints (&sum)[kCount][2]) const {
    Shorts numbers[4];
    detail::load_integers<kBits>(codes, numbers);
    EG_GEMM_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const auto* const own = reinterpret_cast<const std::uint8_t*>(integers + i * x_.stride());
      EG_GEMM_UNROLL
      for (int v = 0; v < 8; ++v) {
        sum[i][v / 4] += detail::multiply_pairs(numbers[v % 4],
                                                detail::load_as<Shorts>(own + v * sizeof(Shorts)));
      }
    }
  }

  template <int kCount>
  EG_GEMM_INLINE void finish(const Ints (&sum)[kCount][2], const float* scale, float factor,
                             Floats (&total)[kCount][1]) const {
    EG_GEMM_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const Floats numbers =
          multiply_add(__builtin_convertvector(sum[i][1], Floats), splat(SplitRows<kBits>::kPart),
                       __builtin_convertvector(sum[i][0], Floats));
      const Floats scaled = numbers * gemm::load_splat(scale + i * x_.blocks());
      total[i][0] = multiply_add(scaled, splat(factor), total[i][0]);
    }
  }

  CodeRows<Quantized<kBits>> rows_;
  SplitRows<kBits> x_;
};

}  // namespace eg::cpu
