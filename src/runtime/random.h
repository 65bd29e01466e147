#pragma once

// Random numbers that are PyTorch's on the CPU: after manual_seed(n) every fill gives the numbers
// PyTorch 2.6 gives.
//
// Think of a Generator as an endless tape of 32-bit words (mt19937) with a reading position. A fill
// is defined by which words it reads for which element: float32 takes one word per uniform and
// float64 two, and a normal fill of fewer than 16 elements reads other words than a longer one. So
// draws always happen in element order on one thread, while the arithmetic between words and
// numbers is free to be fast; random_math.h holds the part that is not obvious. The numbers are the
// same natively, in every WebAssembly build and for any number of threads.
//
// A fill checks its arguments before it draws: one that throws leaves both tape and output
// untouched.

#include <array>
#include <concepts>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace eg {

/// A tape of random words and the position on it; what PyTorch calls a CPU generator.
class Generator {
 public:
  /// Starts as manual_seed(seed) does.
  explicit Generator(std::uint64_t seed);
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  /// Goes to the start of the tape that `seed` names; only its low 32 bits matter, as in PyTorch.
  void manual_seed(std::uint64_t seed);
  /// Goes to the start of a tape picked by the system's entropy, and returns its seed (below 2^53).
  std::uint64_t seed();
  /// The seed that the present tape started from.
  std::uint64_t initial_seed() const;

  /// The position as bytes: the layout of torch.get_rng_state(), so checkpoints travel both ways.
  std::vector<std::uint8_t> state() const;
  /// Goes to the position of state() or torch.get_rng_state(); InvalidArgument for other bytes.
  void set_state(std::span<const std::uint8_t> bytes);

  /// What every fill holds while it draws, so that its words are consecutive.
  std::mutex& mutex() const { return mutex_; }
  /// Reads the next words of the tape; the caller holds mutex().
  void draw(std::span<std::uint32_t> words);
  /// Takes the normal that a short normal fill left over, if any; the caller holds mutex().
  std::optional<double> take_spare_normal();
  /// Leaves a normal for the next short normal fill; the caller holds mutex().
  void leave_spare_normal(double value) { spare_normal_ = value; }

 private:
  static constexpr std::uint32_t kStateWords = 624;
  struct TorchState;

  void restart(std::uint64_t seed);
  void make_words();

  mutable std::mutex mutex_;
  std::uint64_t seed_ = 0;
  // Of state_, the words from next_ on are unread, left_ - 1 of them. That is PyTorch's
  // bookkeeping, kept because state() shows it.
  std::uint32_t left_ = 1;
  std::uint32_t next_ = 0;
  std::array<std::uint32_t, kStateWords> state_;
  std::optional<double> spare_normal_;
};

/// The generator of the process; it starts from the system's entropy.
Generator& default_generator();

/// The generator that calls on this thread draw from: the default one, or the thread's own.
Generator& active_generator();
/// Lets this thread draw from a generator of its own, or again from the default one.
void use_own_generator(bool own);

/// Seeds the active generator: what eg.manualSeed and torch.manual_seed do.
void manual_seed(std::uint64_t seed);

/// Types of real random numbers.
template <class T>
concept RandomReal = std::same_as<T, float> || std::same_as<T, double>;

/// Types of random integers, which may be held as real numbers.
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

/// normal_(mean, std) of a tensor that is not contiguous: read from the tape as short fills are.
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

/// bernoulli(p) with a probability per element; reads other words than the form with one p.
template <RandomReal T>
void fill_bernoulli(std::span<T> out, std::span<const T> p,
                    Generator& generator = active_generator());

/// exponential_(lambda): waiting times at rate lambda.
template <RandomReal T>
void fill_exponential(std::span<T> out, double lambda, Generator& generator = active_generator());

}  // namespace eg
