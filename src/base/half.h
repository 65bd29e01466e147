#pragma once

// The bits of numbers of half precision. Rounding is to the nearest, ties to even; what is too
// large becomes infinite, what is small keeps what digits it can. There are no branches, and all is
// written for numbers and for vectors of them alike: a word holds the bits of a half in its lower
// half.

#include <bit>
#include <cstdint>

namespace eg {

inline constexpr double kMaxFloat16 = 65504;
inline constexpr double kMaxBFloat16 = 0x1.fep127;

namespace half {

/// The number of a float16: a sign, 5 bits of exponent, 10 of fraction.
template <class Floats, class Words>
inline Floats from_float16(Words bits) {
  const Words word = bits << 16;
  const Words shifted = word + word;
  // The exponent moves to its place, and by the difference of the two biases; infinity stays that.
  const Floats normal = std::bit_cast<Floats>((shifted >> 4) + 0x70000000U) * 0x1.0p-112F;
  // Below the normal numbers the fraction is a whole number of the smallest one.
  const Floats small = std::bit_cast<Floats>((shifted >> 17) | 0x3f000000U) - 0.5F;
  const Words number =
      shifted < 0x08000000U ? std::bit_cast<Words>(small) : std::bit_cast<Words>(normal);
  return std::bit_cast<Floats>((word & 0x80000000U) | number);
}

template <class Words, class Floats>
inline Words to_float16(Floats value) {
  const Words word = std::bit_cast<Words>(value);
  const Words shifted = word + word;
  // What is too large overflows on the way.
  const Floats magnitude = (std::bit_cast<Floats>(shifted >> 1) * 0x1.0p+112F) * 0x1.0p-110F;
  const Words exponent = shifted & 0xff000000U;
  const Words least = (shifted & 0U) + 0x71000000U;
  const Words bias = exponent < least ? least : exponent;
  // Added to this power of two, the number has its last digit where that of a float16 is: the
  // addition rounds.
  const Words bits =
      std::bit_cast<Words>(std::bit_cast<Floats>((bias >> 1) + 0x07800000U) + magnitude);
  const Words number = ((bits >> 13) & 0x7c00U) + (bits & 0x0fffU);
  const Words nan = (shifted & 0U) + 0x7e00U;
  return ((word >> 16) & 0x8000U) | (shifted > 0xff000000U ? nan : number);
}

/// The number of a bfloat16: the upper half of a float32.
template <class Floats, class Words>
inline Floats from_bfloat16(Words bits) {
  return std::bit_cast<Floats>(bits << 16);
}

template <class Words, class Floats>
inline Words to_bfloat16(Floats value) {
  const Words word = std::bit_cast<Words>(value);
  const Words rounded = (word + 0x7fffU + ((word >> 16) & 1U)) >> 16;
  const Words nan = (word & 0U) + 0x7fc0U;
  return word + word > 0xff000000U ? nan : rounded;
}

}  // namespace half

/// The same for one number.
inline float from_float16_bits(std::uint16_t bits) {
  return half::from_float16<float, std::uint32_t>(bits);
}
inline std::uint16_t float16_bits(float value) {
  return static_cast<std::uint16_t>(half::to_float16<std::uint32_t>(value));
}
inline float from_bfloat16_bits(std::uint16_t bits) {
  return half::from_bfloat16<float, std::uint32_t>(bits);
}
inline std::uint16_t bfloat16_bits(float value) {
  return static_cast<std::uint16_t>(half::to_bfloat16<std::uint32_t>(value));
}

}  // namespace eg
