#pragma once

// Philox 4x32-10, the generator of devices: a counter-based generator, whose words are a function
// of a key and a counter. Every number can therefore be computed on its own, in any order.
//
// J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (2011).

#include <array>
#include <cstdint>

namespace eg {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// The four words of a counter.
constexpr std::array<std::uint32_t, 4> philox_words(PhiloxCounter counter, PhiloxKey key) {
  constexpr std::uint64_t kMultipliers[2] = {0xd2511f53U, 0xcd9e8d57U};
  constexpr PhiloxKey kWeyl = {0x9e3779b9U, 0xbb67ae85U};
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t even = kMultipliers[0] * counter[0];
    const std::uint64_t odd = kMultipliers[1] * counter[2];
    counter = {static_cast<std::uint32_t>(odd >> 32U) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(odd),
               static_cast<std::uint32_t>(even >> 32U) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(even)};
    key = {key[0] + kWeyl[0], key[1] + kWeyl[1]};
  }
  return counter;
}

/// Where a device draws from: numbers 4 i to 4 i + 3 of a fill come from the words of counter
/// `group` + i. The fields are those of a kernel's struct.
struct PhiloxPosition {
  std::int64_t key_low;   ///< of the seed
  std::int64_t key_high;  ///< of the seed
  std::int64_t group;     ///< below 2^53
};

}  // namespace eg
