#pragma once

// Codes of 4, 8 and 16 bits as vectors of floats, 32 columns at a time.

#include <cstdint>
#include <cstring>

#include "backend/cpu/matrix/gemm/vector.h"
#include "base/half.h"
#include "kernels/quantized.h"

namespace eg::cpu {

using kernel::kColumnsAtOnce;

using Codes = Vec<std::uint8_t>;
using Floats = Vec<float>;

namespace detail {

using Pairs = Vec<std::uint16_t>;

template <class V>
EG_GEMM_INLINE V load_as(const std::uint8_t* from) {
  V codes;
  std::memcpy(&codes, from, sizeof codes);
  return codes;
}

/// Calls use(i, numbers) for four vectors of numbers, which are the codes minus half their range.
template <int kBits, class Use>
EG_GEMM_INLINE void for_sixteen(Codes codes, int first, Use&& use) {
  // The bits of 2^23 + code, as a float: interleaving with its upper half takes the place of a
  // conversion, and the subtraction is exact.
  constexpr std::uint16_t kUpper = 0x4b00;
  constexpr float kZero = 0x1p23F + static_cast<float>(1 << (kBits - 1));
  const Codes none{};
  const Pairs upper{kUpper, kUpper, kUpper, kUpper, kUpper, kUpper, kUpper, kUpper};
  const auto low = std::bit_cast<Pairs>(
      __builtin_shufflevector(codes, none, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
  const auto high = std::bit_cast<Pairs>(__builtin_shufflevector(
      codes, none, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31));
  const auto number = [&](Pairs pairs) { return std::bit_cast<Floats>(pairs) - splat(kZero); };
  use(first, number(__builtin_shufflevector(low, upper, 0, 8, 1, 9, 2, 10, 3, 11)));
  use(first + 1, number(__builtin_shufflevector(low, upper, 4, 12, 5, 13, 6, 14, 7, 15)));
  use(first + 2, number(__builtin_shufflevector(high, upper, 0, 8, 1, 9, 2, 10, 3, 11)));
  use(first + 3, number(__builtin_shufflevector(high, upper, 4, 12, 5, 13, 6, 14, 7, 15)));
}

}  // namespace detail

/// Codes of few bits, which have scales. Calls use(i, numbers) for the eight vectors of the numbers
/// of 32 columns, in order.
template <int kOwnBits>
struct Quantized {
  static constexpr int kBits = kOwnBits;

  template <class Use>
  EG_GEMM_INLINE static void for_each_number(const std::uint8_t* from, Use&& use) {
    const auto first = detail::load_as<Codes>(from);
    if constexpr (kBits == 8) {
      detail::for_sixteen<8>(first, 0, use);
      detail::for_sixteen<8>(detail::load_as<Codes>(from + sizeof(Codes)), 4, use);
    } else {
      const Codes low = first & splat<std::uint8_t>(15);
      const Codes high = first >> splat<std::uint8_t>(4);
      detail::for_sixteen<4>(__builtin_shufflevector(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20,
                                                     5, 21, 6, 22, 7, 23),
                             0, use);
      detail::for_sixteen<4>(__builtin_shufflevector(low, high, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                                     28, 13, 29, 14, 30, 15, 31),
                             4, use);
    }
  }
};

namespace detail {

/// Calls use(i, words) for the eight vectors of 32 numbers of 16 bits, with zeros in the other half
/// of each word.
template <bool kZerosFirst, class Use>
EG_GEMM_INLINE void for_each_pair(const std::uint8_t* from, Use&& use) {
  const Pairs none{};
  EG_GEMM_UNROLL
  for (int i = 0; i < 8; i += 2) {
    const auto pairs = load_as<Pairs>(from + i * 8);
    const Pairs a = kZerosFirst ? none : pairs;
    const Pairs b = kZerosFirst ? pairs : none;
    use(i, __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11));
    use(i + 1, __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15));
  }
}

}  // namespace detail

/// Half precision has no scales. A bfloat16 is the upper half of a float.
struct BFloat16 {
  static constexpr int kBits = 16;

  template <class Use>
  EG_GEMM_INLINE static void for_each_number(const std::uint8_t* from, Use&& use) {
    detail::for_each_pair<true>(
        from, [&](int i, detail::Pairs floats) { use(i, std::bit_cast<Floats>(floats)); });
  }
};

struct Float16 {
  static constexpr int kBits = 16;

  template <class Use>
  EG_GEMM_INLINE static void for_each_number(const std::uint8_t* from, Use&& use) {
    using Words = Vec<std::uint32_t>;
    detail::for_each_pair<false>(from, [&](int i, detail::Pairs words) {
      use(i, half::from_float16<Floats>(std::bit_cast<Words>(words)));
    });
  }
};

}  // namespace eg::cpu
