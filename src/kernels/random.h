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

/// Sets `count` contiguous floats to Poisson numbers. A rate that is negative or NaN is an error of
/// `op`, which devices report when something is read that was computed from the result. An element
/// has a group of words of its own.
struct DrawPoisson {
  static constexpr std::string_view name = "draw_poisson";
  std::string_view op;
  std::int64_t count;
  PhiloxPosition position;
  In rates;
  Out y;

  void compute_on_cpu() const;
};

/// Rows of weights from which positions are drawn, as floats. A row with a weight that is negative
/// or not finite, or without a positive one, is an error of the op, reported like that of a rate.
struct WeightRows {
  std::int64_t rows;
  std::int64_t size;
  In weights;
  In least;  ///< of each row
  In most;   ///< of each row
};

/// Divides every weight by an exponential number. The positions of the largest quotients of a row
/// are draws without replacement.
struct DrawRaces {
  static constexpr std::string_view name = "draw_races";
  std::string_view op;
  WeightRows from;
  PhiloxPosition position;
  Out quotients;

  void compute_on_cpu() const;
};

/// Draws `count` positions from each row, with replacement.
struct DrawPositions {
  static constexpr std::string_view name = "draw_positions";
  std::string_view op;
  WeightRows from;
  std::int64_t count;
  PhiloxPosition position;
  In sums;        ///< of the weights of a row up to each one
  Out positions;  ///< int64 [rows, count]

  void compute_on_cpu() const;
};

using RandomKernels = TypeList<DrawRandom, DrawDropout, DrawPoisson, DrawRaces, DrawPositions>;

}  // namespace eg::kernel
