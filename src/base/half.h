#pragma once

// Conversions between half-precision bits and float32. Rounds to nearest, ties to even; overflow
// becomes infinity, underflow becomes subnormal. The code is branchless, so one template serves
// scalars and SIMD vectors: `Floats` is float or a vector of floats, `Words` the unsigned integers
// of the same size, which hold a half in their lower 16 bits.

#include <bit>
#include <cstdint>

namespace eg {

inline constexpr double kMaxFloat16 = 65504;
inline constexpr double kMaxBFloat16 = 0x1.fep127;

namespace half {

/// Returns the value of a float16: 1 sign bit, 5 exponent bits, 10 fraction bits.
template <class Floats, class Words>
inline Floats from_float16(Words bits) {
  const Words word = bits << 16;
  const Words shifted = word + word;
  // Moves the exponent into position and corrects it by the difference of the biases. Infinity and
  // NaN are preserved.
  const Floats normal = std::bit_cast<Floats>((shifted >> 4) + 0x70000000U) * 0x1.0p-112F;
  // A subnormal's fraction counts multiples of the smallest subnormal.
  const Floats small = std::bit_cast<Floats>((shifted >> 17) | 0x3f000000U) - 0.5F;
  const Words number =
      shifted < 0x08000000U ? std::bit_cast<Words>(small) : std::bit_cast<Words>(normal);
  return std::bit_cast<Floats>((word & 0x80000000U) | number);
}

template <class Words, class Floats>
inline Words to_float16(Floats value) {
  const Words word = std::bit_cast<Words>(value);
  const Words shifted = word + word;
  // Values that are too large overflow to infinity in the first product.
  const Floats magnitude = (std::bit_cast<Floats>(shifted >> 1) * 0x1.0p+112F) * 0x1.0p-110F;
  const Words exponent = shifted & 0xff000000U;
  const Words least = (shifted & 0U) + 0x71000000U;
  const Words bias = exponent < least ? least : exponent;
  // Adding this power of two aligns the last digit of the sum with that of a float16, so that the
  // addition rounds.
  const Words bits =
      std::bit_cast<Words>(std::bit_cast<Floats>((bias >> 1) + 0x07800000U) + magnitude);
  const Words number = ((bits >> 13) & 0x7c00U) + (bits & 0x0fffU);
  const Words nan = (shifted & 0U) + 0x7e00U;
  return ((word >> 16) & 0x8000U) | (shifted > 0xff000000U ? nan : number);
}

/// Returns the value of a bfloat16, which is the upper half of a float32.
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

/// Scalar versions.
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
