#pragma once

// Random numbers equal to PyTorch's on the CPU: after manual_seed(n) every fill returns the numbers
// of PyTorch 2.6.
//
// A Generator is an endless stream of 32-bit words (mt19937) with a read position. A fill is
// defined by the words it reads for each element: float32 takes one word per uniform number and
// float64 two, and a normal fill of fewer than 16 elements reads other words than a longer one.
// Words are therefore always drawn in element order on one thread, while the computation of numbers
// from words can be fast; random_math.h has the part that is not obvious. The numbers are the same
// natively, in every WebAssembly build and for any number of threads.
//
// A fill checks its arguments before it draws: if it throws, the stream and the output are
// unchanged.
//
// A device that computes its own random numbers (Accelerator::draws) takes them from a second
// stream with the same seed (philox.h), of which the generator only has the position.

#include <array>
#include <concepts>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/philox.h"

namespace eg {

/// A stream of random words and a position in it; PyTorch's CPU generator.
class Generator {
 public:
  /// Equivalent to manual_seed(seed).
  explicit Generator(std::uint64_t seed);
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  /// Moves to the start of the stream of `seed`; only its low 32 bits matter, as in PyTorch.
  void manual_seed(std::uint64_t seed);
  /// Moves to the start of a stream chosen by the system's entropy, and returns its seed (below
  /// 2^53).
  std::uint64_t seed();
  /// The seed of the current stream.
  std::uint64_t initial_seed() const;

  /// The position as bytes, in the layout of torch.get_rng_state(), so that checkpoints can be
  /// exchanged with PyTorch, which does not read the position in the stream of devices.
  std::vector<std::uint8_t> state() const;
  /// Restores a position from state() or torch.get_rng_state(); throws InvalidArgument for other
  /// bytes.
  void set_state(std::span<const std::uint8_t> bytes);

  /// Every fill holds this mutex while it draws, so that its words are consecutive.
  std::mutex& mutex() const { return mutex_; }
  /// Reads the next words of the stream; the caller holds mutex().
  void draw(std::span<std::uint32_t> words);
  /// Takes the normal number that a short normal fill did not use, if any; the caller holds
  /// mutex().
  std::optional<double> take_spare_normal();
  /// Stores a normal number for the next short normal fill; the caller holds mutex().
  void leave_spare_normal(double value) { spare_normal_ = value; }

  /// Takes the next `groups` groups of four words from the stream of devices.
  PhiloxPosition draw_on_device(std::int64_t groups);

 private:
  static constexpr std::uint32_t kStateWords = 624;
  struct TorchState;

  void restart(std::uint64_t seed);
  void make_words();

  mutable std::mutex mutex_;
  std::uint64_t seed_ = 0;
  // The words of state_ from next_ on are unread, left_ - 1 of them. This redundant bookkeeping is
  // PyTorch's, and is part of state().
  std::uint32_t left_ = 1;
  std::uint32_t next_ = 0;
  std::array<std::uint32_t, kStateWords> state_;
  std::optional<double> spare_normal_;
  std::uint64_t device_group_ = 0;  // the next one of the stream of devices
};

/// The process-wide generator, seeded by the system's entropy.
Generator& default_generator();

/// The generator that calls on this thread draw from: the default one or the thread's own.
Generator& active_generator();
/// Makes this thread draw from its own generator, or from the default one again.
void use_own_generator(bool own);

/// Seeds the active generator: implements eg.manualSeed, as torch.manual_seed.
void manual_seed(std::uint64_t seed);

/// Types of real random numbers.
template <class T>
concept RandomReal = std::same_as<T, float> || std::same_as<T, double>;

/// Types of random integers, which may be stored as floating-point numbers.
template <class T>
concept RandomElement =
    RandomReal<T> || std::same_as<T, std::int64_t> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::uint8_t> || std::same_as<T, bool>;

/// uniform_(from, to): real numbers in [from, to); rand() is from 0 to 1.
template <RandomReal T>
void fill_uniform(std::span<T> out, double from, double to,
                  Generator& generator = active_generator());

/// normal_(mean, std) of a contiguous tensor; randn() is mean 0, std 1.
template <RandomReal T>
void fill_normal(std::span<T> out, double mean, double std,
                 Generator& generator = active_generator());

/// normal_(mean, std) of a tensor that is not contiguous: reads the stream like a short fill.
template <RandomReal T>
void fill_normal_singly(std::span<T> out, double mean, double std,
                        Generator& generator = active_generator());

/// random_(low, high): integers in [low, high); randint() of any dtype.
template <RandomElement T>
void fill_randint(std::span<T> out, std::int64_t low, std::int64_t high,
                  Generator& generator = active_generator());

/// random_(): integers from 0 to the largest of T; for float32 to 2^24, for float64 to 2^53.
template <RandomElement T>
void fill_random(std::span<T> out, Generator& generator = active_generator());

/// randperm(): the integers 0 .. size - 1 in random order.
template <RandomElement T>
  requires(!std::same_as<T, bool>)
void fill_randperm(std::span<T> out, Generator& generator = active_generator());

/// bernoulli_(p): ones with probability p, else zeros; dropout's mask has 1 minus its p.
template <RandomElement T>
void fill_bernoulli(std::span<T> out, double p, Generator& generator = active_generator());

/// bernoulli(p) with a probability per element; reads other words than the form with a single p.
template <RandomReal T>
void fill_bernoulli(std::span<T> out, std::span<const T> p,
                    Generator& generator = active_generator());

/// exponential_(lambda): waiting times at rate lambda.
template <RandomReal T>
void fill_exponential(std::span<T> out, double lambda, Generator& generator = active_generator());

}  // namespace eg
