#pragma once

// Random numbers of devices that draw them themselves (Accelerator::draws), from the words of
// philox.h. On the CPU ops draw from runtime/random.h instead.

#include <string_view>

#include "kernels/kernel.h"
#include "runtime/philox.h"

namespace eg::kernel {

/// What is drawn: a number of each word, except that two normals come from two words.
enum class RandomKind : std::uint8_t {
  kUniform,      ///< in [a, b)
  kNormal,       ///< with mean a and standard deviation b
  kInteger,      ///< a + (word mod b); with b = 0 the word itself, as an int32
  kBernoulli,    ///< 1 with probability a, else 0
  kExponential,  ///< at rate a
  kGeometric,    ///< the whole number at or above an exponential one at rate a; at least 1
  kCauchy,       ///< with median a and scale b
  kLogNormal,    ///< whose logarithm is normal, with mean a and standard deviation b
};

/// Sets `count` contiguous elements to random numbers. Integers a and a + b fit into 32 bits.
struct DrawRandom {
  static constexpr std::string_view name = "draw_random";
  RandomKind kind;
  std::int64_t count;
  PhiloxPosition position;
  double a;
  double b;
  Out y;

  void compute_on_cpu() const;
};

/// Draws a mask that is true with probability `keep`, and computes y = x / keep where it is, else
/// x * 0, for `count` floats.
struct DrawDropout {
  static constexpr std::string_view name = "draw_dropout";
  std::int64_t count;
  double keep;
  PhiloxPosition position;
  In x;
  Out mask;  ///< bool
  Out y;

  void compute_on_cpu() const;
};

using RandomKernels = TypeList<DrawRandom, DrawDropout>;

}  // namespace eg::kernel
