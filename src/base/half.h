#pragma once

// The bits of numbers of half precision. Rounding is to the nearest, ties to even; what is too
// large becomes infinite, what is small keeps what digits it can. There are no branches, so that
// loops over these functions become vectors.

#include <bit>
#include <cmath>
#include <cstdint>

namespace eg {

inline constexpr double kMaxFloat16 = 65504;
inline constexpr double kMaxBFloat16 = 0x1.fep127;

/// The number of a float16: a sign, 5 bits of exponent, 10 of fraction.
inline float from_float16_bits(std::uint16_t bits) {
  const std::uint32_t word = std::uint32_t{bits} << 16;
  const std::uint32_t shifted = word + word;
  // The exponent moves to its place, and by the difference of the two biases; infinity stays that.
  const float normal =
      std::bit_cast<float>((shifted >> 4) + (std::uint32_t{0xe0} << 23)) * 0x1.0p-112F;
  // Below the normal numbers the fraction is a whole number of the smallest one.
  const float small = std::bit_cast<float>((shifted >> 17) | (std::uint32_t{126} << 23)) - 0.5F;
  const bool is_small = shifted < (std::uint32_t{1} << 27);
  return std::bit_cast<float>((word & 0x80000000U) |
                              std::bit_cast<std::uint32_t>(is_small ? small : normal));
}

inline std::uint16_t float16_bits(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t shifted = word + word;
  // What is too large overflows on the way.
  const float magnitude = (std::abs(value) * 0x1.0p+112F) * 0x1.0p-110F;
  const std::uint32_t exponent = shifted & 0xff000000U;
  const std::uint32_t bias = exponent < 0x71000000U ? 0x71000000U : exponent;
  // Added to this power of two, the number has its last digit where that of a float16 is: the
  // addition rounds.
  const float rounded = std::bit_cast<float>((bias >> 1) + 0x07800000U) + magnitude;
  const auto bits = std::bit_cast<std::uint32_t>(rounded);
  const std::uint32_t number = ((bits >> 13) & 0x7c00U) + (bits & 0x0fffU);
  return static_cast<std::uint16_t>(((word >> 16) & 0x8000U) |
                                    (shifted > 0xff000000U ? 0x7e00U : number));
}

/// The number of a bfloat16: the upper half of a float32.
inline float from_bfloat16_bits(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

inline std::uint16_t bfloat16_bits(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = word + 0x7fffU + ((word >> 16) & 1U);
  const bool is_nan = word + word > 0xff000000U;
  return static_cast<std::uint16_t>(is_nan ? 0x7fc0U : rounded >> 16);
}

}  // namespace eg
