#pragma once

// The 8-bit floats. float8_e4m3fn has 4 exponent bits, 3 fraction bits and no infinity; its last
// number is NaN. float8_e5m2 is the upper half of a float16.

#include <bit>
#include <cstdint>

#include "base/half.h"

namespace eg {

inline constexpr double kMaxFloat8E4m3fn = 448;
inline constexpr double kMaxFloat8E5m2 = 57344;

namespace detail {

// Returns the nearest number, to even where two are equally near. Above `kLargest` is `kBeyond`.
template <int kDigits, int kBias, std::uint32_t kLargest, std::uint32_t kBeyond>
std::uint8_t float8_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 24 & 0x80U;
  const std::uint32_t size = bits & 0x7fffffffU;
  if (size > 0x7f800000U) return static_cast<std::uint8_t>(sign | 0x7fU);
  constexpr std::uint32_t kFirstNormal = static_cast<std::uint32_t>(128 - kBias) << 23;
  std::uint32_t result = 0;
  if (size < kFirstNormal) {
    // Adding this power of two aligns the last digit of the sum with that of the result.
    constexpr auto kAligned = static_cast<std::uint32_t>(128 - kBias + 23 - kDigits) << 23;
    const float sum = std::bit_cast<float>(size) + std::bit_cast<float>(kAligned);
    result = std::bit_cast<std::uint32_t>(sum) - kAligned;
  } else {
    constexpr int kDropped = 23 - kDigits;
    const std::uint32_t odd = size >> kDropped & 1U;
    const std::uint32_t rounded = size + (1U << (kDropped - 1)) - 1 + odd;
    result = (rounded >> kDropped) - (static_cast<std::uint32_t>(127 - kBias) << kDigits);
  }
  return static_cast<std::uint8_t>(sign | (result > kLargest ? kBeyond : result));
}

}  // namespace detail

inline std::uint8_t float8_e4m3fn_bits(float value) {
  return detail::float8_bits<3, 7, 0x7e, 0x7f>(value);
}
inline std::uint8_t float8_e5m2_bits(float value) {
  return detail::float8_bits<2, 15, 0x7b, 0x7c>(value);
}

inline float from_float8_e4m3fn_bits(std::uint8_t bits) {
  const std::uint32_t sign = (bits & 0x80U) << 24;
  const std::uint32_t size = bits & 0x7fU;
  if (size == 0x7fU) return std::bit_cast<float>(sign | 0x7fc00000U);
  // The product is exact, also where `size` is a denormal number.
  const float value = std::bit_cast<float>(size << 20) * 0x1p120F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}
inline float from_float8_e5m2_bits(std::uint8_t bits) {
  return from_float16_bits(static_cast<std::uint16_t>(bits << 8));
}

}  // namespace eg
