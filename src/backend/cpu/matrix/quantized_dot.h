#pragma once

// Products of codes of 4 bits with float32 numbers in integer arithmetic, which multiplies and adds
// eight pairs per instruction instead of four, and converts sums to float instead of every code:
// half as many codes again per second. With codes of 8 bits nothing would be gained.
//
// 32 numbers share a scale, a 32767th of the largest magnitude. Each becomes two integers of 16
// bits: a multiple of the scale, and the rest in parts that are 65534 times smaller. Together they
// have 31 bits, more than a float32, and sums of 32 products with codes are exact.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

#include "backend/cpu/matrix/gemm/scratch.h"
#include "backend/cpu/matrix/quantized_rows.h"
#include "base/divide_up.h"
#include "kernels/quantized.h"

namespace eg::cpu {

using Shorts = Vec<std::int16_t>;
using Ints = Vec<std::int32_t>;

namespace detail {

/// The numbers of half of the codes, as signed integers.
EG_GEMM_INLINE Shorts widen(Vec<std::int8_t> codes, bool is_upper) {
#ifdef __SSE4_1__
  const auto own = std::bit_cast<__m128i>(codes);
  return std::bit_cast<Shorts>(_mm_cvtepi8_epi16(is_upper ? _mm_srli_si128(own, 8) : own));
#else
  return map_lanes(Shorts{},
                   [&, i = is_upper ? 8 : 0](std::int16_t) mutable { return codes[i++]; });
#endif
}

/// The sums of products of neighbouring lanes.
EG_GEMM_INLINE Ints multiply_pairs(Shorts a, Shorts b) {
#ifdef __SSE4_1__
  return std::bit_cast<Ints>(_mm_madd_epi16(std::bit_cast<__m128i>(a), std::bit_cast<__m128i>(b)));
#else
  Ints sums;
  for (int i = 0; i < 4; ++i) sums[i] = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
  return sums;
#endif
}

/// The integers of 32 columns, first those of the even columns.
EG_GEMM_INLINE void load_integers(const std::uint8_t* from, Shorts (&numbers)[4]) {
  const auto codes = load_as<Codes>(from);
  const auto mask = splat<std::uint8_t>(15);
  const auto zero = splat<std::uint8_t>(8);
  const auto upper = std::bit_cast<Codes>(std::bit_cast<Pairs>(codes) >> splat<std::uint16_t>(4));
  const auto even = std::bit_cast<Vec<std::int8_t>>((codes & mask) - zero);
  const auto odd = std::bit_cast<Vec<std::int8_t>>((upper & mask) - zero);
  numbers[0] = widen(even, false);
  numbers[1] = widen(even, true);
  numbers[2] = widen(odd, false);
  numbers[3] = widen(odd, true);
}

}  // namespace detail

/// Rows of X as integers.
class SplitRows {
 public:
  SplitRows(const kernel::QuantizedProduct& p)
      : blocks_(divide_up(p.layout.columns, kColumnsAtOnce)),
        integers_(integer_memory_.take<std::int16_t>(p.count * blocks_ * kIntegers)),
        scales_(scale_memory_.take<float>(p.count * blocks_)) {
    for (std::int64_t i = 0; i < p.count; ++i) {
      const float* const row = p.x.as<float>() + i * p.layout.columns;
      for (std::int64_t block = 0; block < blocks_; ++block) {
        const std::int64_t first = block * kColumnsAtOnce;
        split(row + first, std::min(kColumnsAtOnce, p.layout.columns - first), i * blocks_ + block);
      }
    }
  }

  /// False if a number is infinite or NaN, which integers cannot be.
  bool is_finite() const { return is_finite_; }

  /// Of all blocks of a row.
  const std::int16_t* integers(std::int64_t row) const {
    return integers_ + row * blocks_ * kIntegers;
  }
  const float* scales(std::int64_t row) const { return scales_ + row * blocks_; }

  /// The second integers of a block follow the first ones.
  static constexpr std::int64_t kIntegers = 2 * kColumnsAtOnce;
  static constexpr float kPart = 1.0F / 65534;

 private:
  void split(const float* x, std::int64_t count, std::int64_t block) {
    float largest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      is_finite_ = is_finite_ && std::isfinite(x[i]);
      largest = std::max(largest, std::abs(x[i]));
    }
    scales_[block] = largest / 32767;
    std::int16_t* const to = integers_ + block * kIntegers;
    std::fill_n(to, kIntegers, std::int16_t{0});
    // Below, the scale has too few digits, and all products are less than the smallest normal one.
    if (!is_finite_ || scales_[block] < std::numeric_limits<float>::min()) {
      scales_[block] = 0;
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t place = i % 2 * (kColumnsAtOnce / 2) + i / 2;
      const double whole = static_cast<double>(x[i]) / scales_[block];
      const double first = std::clamp(std::nearbyint(whole), -32767.0, 32767.0);
      const double rest = std::nearbyint((whole - first) * 65534);
      to[place] = static_cast<std::int16_t>(first);
      to[kColumnsAtOnce + place] = static_cast<std::int16_t>(std::clamp(rest, -32767.0, 32767.0));
    }
  }

  std::int64_t blocks_;
  gemm::Scratch integer_memory_;
  gemm::Scratch scale_memory_;
  std::int16_t* integers_;
  float* scales_;
  bool is_finite_ = true;
};

/// Adds the products of a block of codes with blocks of several rows of X to `sum`.
template <int kCount>
EG_GEMM_INLINE void add_block(const std::uint8_t* codes, float factor,
                              const std::array<const std::int16_t*, kCount>& integers,
                              const std::array<const float*, kCount>& scales,
                              Floats (&sum)[kCount][2]) {
  Shorts numbers[4];
  detail::load_integers(codes, numbers);
  EG_GEMM_UNROLL
  for (int i = 0; i < kCount; ++i) {
    const Floats scale = gemm::splat(*scales[i] * factor);
    EG_GEMM_UNROLL
    for (int part = 0; part < 2; ++part) {
      Ints products{};
      EG_GEMM_UNROLL
      for (int v = 0; v < 4; ++v) {
        const std::int16_t* const at =
            integers[i] + part * kColumnsAtOnce + v * kLanes<std::int16_t>;
        products += detail::multiply_pairs(
            numbers[v], detail::load_as<Shorts>(reinterpret_cast<const std::uint8_t*>(at)));
      }
      sum[i][part] = multiply_add(__builtin_convertvector(products, Floats), scale, sum[i][part]);
    }
  }
}

/// Writes to `out` the products of `kCount` rows of X, from `first` on, with a row of the matrix.
template <int kCount, class Matrix>
void multiply_integers(const SplitRows& x, std::int64_t first, const Matrix& matrix,
                       std::int64_t row, const kernel::CodeLayout& layout, float (&out)[kCount]) {
  constexpr std::ptrdiff_t kBlockBytes = kColumnsAtOnce / 2;
  std::array<const std::int16_t*, kCount> integers;
  std::array<const float*, kCount> scales;
  for (int i = 0; i < kCount; ++i) {
    integers[i] = x.integers(first + i);
    scales[i] = x.scales(first + i);
  }
  const std::uint8_t* codes = matrix.codes(row, 0);
  const float* factor = matrix.scales(row);
  Floats sum[kCount][2] = {};
  // 32 bits where pointers have them: the arithmetic on 64 would take longer than the products.
  const auto group = static_cast<std::ptrdiff_t>(layout.group / kColumnsAtOnce);
  std::ptrdiff_t left = group;
  for (auto blocks = static_cast<std::ptrdiff_t>(layout.columns / kColumnsAtOnce); blocks > 0;
       --blocks) {
    add_block<kCount>(codes, *factor, integers, scales, sum);
    codes += kBlockBytes;
    for (int i = 0; i < kCount; ++i) {
      integers[i] += SplitRows::kIntegers;
      ++scales[i];
    }
    if (--left == 0) {
      ++factor;
      left = group;
    }
  }
  if (const std::int64_t rest = layout.columns % kColumnsAtOnce; rest > 0) {
    const auto last = matrix.last_codes(row, layout.columns - rest);
    add_block<kCount>(last.data(), *factor, integers, scales, sum);
  }
  for (int i = 0; i < kCount; ++i) {
    const Floats lanes = sum[i][0] + sum[i][1] * gemm::splat(SplitRows::kPart);
    out[i] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  }
}

}  // namespace eg::cpu
