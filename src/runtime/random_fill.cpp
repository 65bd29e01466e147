// compile: kernels

// Fills: convert words of the stream to uniform, normal, integer and other numbers.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "runtime/random.h"
#include "runtime/random_math.h"
#include "runtime/random_samples.h"

namespace eg {
namespace {

// Words are drawn in bulk into a buffer that fits into the L1 cache, then converted.
constexpr std::size_t kWordsAtOnce = 512;

// A 64-bit word consists of two words of the stream, the first one in the upper half.
template <class Word>
constexpr std::size_t kTapeWords = std::is_same_v<Word, std::uint64_t> ? 2 : 1;

template <class Word>
inline Word word_at(const std::uint32_t* words, std::size_t i) {
  if constexpr (kTapeWords<Word> == 2) {
    return (Word{words[2 * i]} << 32) | words[2 * i + 1];
  } else {
    return words[i];
  }
}

// Calls `element(word, index)` for `count` elements; the caller holds the mutex.
template <class Word, class Element>
void each_word(Generator& generator, std::size_t count, Element element) {
  constexpr std::size_t kAtOnce = kWordsAtOnce / kTapeWords<Word>;
  std::array<std::uint32_t, kWordsAtOnce> words;
  for (std::size_t begin = 0; begin < count; begin += kAtOnce) {
    const std::size_t n = std::min(kAtOnce, count - begin);
    generator.draw({words.data(), n * kTapeWords<Word>});
    for (std::size_t i = 0; i < n; ++i) element(word_at<Word>(words.data(), i), begin + i);
  }
}

template <class Word, class T, class Convert>
void fill_from_words(std::span<T> out, Generator& generator, Convert convert) {
  const std::lock_guard lock(generator.mutex());
  T* data = out.data();
  each_word<Word>(generator, out.size(),
                  [=](Word word, std::size_t i) { data[i] = convert(word); });
}

// The type of the word that a uniform number of type T is computed from.
template <class T>
using UniformWord = std::conditional_t<std::is_same_v<T, double>, std::uint64_t, std::uint32_t>;

// In [0, 1), with as many bits as T holds. Converted through a signed integer of the same value,
// because that is the conversion that SIMD units provide.
template <class T>
inline T unit_uniform(UniformWord<T> word) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr UniformWord<T> kMask = (UniformWord<T>{1} << kDigits) - 1;
  constexpr T kStep = T{1} / static_cast<T>(kMask + 1);
  return static_cast<T>(static_cast<std::make_signed_t<UniformWord<T>>>(word & kMask)) * kStep;
}

// PyTorch's kernels are compiled to fused multiply-adds, which affect its numbers.
inline float fused(float a, float b, float c) {
  return c == 0 ? a * b + c : fused_multiply_add(a, b, c);
}
inline double fused(double a, double b, double c) { return c == 0 ? a * b + c : std::fma(a, b, c); }

template <class T>
constexpr std::string_view type_name() {
  if constexpr (std::is_same_v<T, float>) return "float32";
  if constexpr (std::is_same_v<T, double>) return "float64";
  if constexpr (std::is_same_v<T, std::int64_t>) return "int64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
  if constexpr (std::is_same_v<T, std::uint8_t>) return "uint8";
  if constexpr (std::is_same_v<T, bool>) return "bool";
}

template <class Bound>
void check_bound(bool holds, std::string_view op, std::string_view name, std::string_view type,
                 Bound value) {
  check(holds, ErrorCode::kInvalidArgument, op, name, " is out of bounds for ", type, ", got ",
        value, ".");
}

void check_std(double std) {
  check(std >= 0, ErrorCode::kInvalidArgument, "normal_", "expected std >= 0, got ", std, '.');
}

void check_probability(double p) {
  check(p >= 0 && p <= 1, ErrorCode::kInvalidArgument, "bernoulli_", "expected p from 0 to 1, got ",
        p, '.');
}

struct NormalPair {
  double first;
  double second;
};

// Two independent normals from two uniforms (Box and Muller).
NormalPair normal_pair(double uniform, double turn) {
  const double radius = std::sqrt(-2 * unit_log(1 - uniform));
  const SinCos direction = unit_sincos(2 * std::numbers::pi * turn);
  return {radius * direction.cos, radius * direction.sin};
}

// Long fills compute 16 normals from 16 uniforms at a time: the first eight pair up with the last
// eight.
constexpr std::size_t kNormalBlock = 16;

void normal_block(const std::uint32_t* words, float* out, double mean, double std) {
  box_muller_16(std::span<const std::uint32_t, kNormalBlock>(words, kNormalBlock),
                std::span<float, kNormalBlock>(out, kNormalBlock), static_cast<float>(mean),
                static_cast<float>(std));
}

void normal_block(const std::uint32_t* words, double* out, double mean, double std) {
  constexpr std::size_t kHalf = kNormalBlock / 2;
  for (std::size_t i = 0; i < kHalf; ++i) {
    const double uniform = unit_uniform<double>(word_at<std::uint64_t>(words, i));
    const double turn = unit_uniform<double>(word_at<std::uint64_t>(words, kHalf + i));
    const NormalPair pair = normal_pair(uniform, turn);
    out[i] = fused(pair.first, std, mean);
    out[kHalf + i] = fused(pair.second, std, mean);
  }
}

template <class T>
void fill_normal_blocks(std::span<T> out, double mean, double std, Generator& generator) {
  constexpr std::size_t kWordsPerElement = kTapeWords<UniformWord<T>>;
  constexpr std::size_t kBlockWords = kNormalBlock * kWordsPerElement;
  static_assert(kWordsAtOnce % kBlockWords == 0);
  const std::lock_guard lock(generator.mutex());
  std::array<std::uint32_t, kWordsAtOnce> words;
  constexpr std::size_t kAtOnce = kWordsAtOnce / kWordsPerElement;
  for (std::size_t begin = 0; begin < out.size(); begin += kAtOnce) {
    const std::size_t n = std::min(kAtOnce, out.size() - begin);
    generator.draw({words.data(), n * kWordsPerElement});
    for (std::size_t i = 0; i + kNormalBlock <= n; i += kNormalBlock) {
      normal_block(words.data() + i * kWordsPerElement, out.data() + begin + i, mean, std);
    }
  }
  // An incomplete block has consumed its words; the last 16 elements are then drawn again.
  if (out.size() % kNormalBlock != 0) {
    generator.draw({words.data(), kBlockWords});
    normal_block(words.data(), out.data() + out.size() - kNormalBlock, mean, std);
  }
}

// T may round a number next to an integer bound out of the requested range. The bound is then moved
// inwards by the distance between two neighbors in T. Bounds next to 2^63, which int64 cannot
// represent, stay unchanged.
template <RandomReal T>
std::int64_t spacing_at(std::int64_t value) {
  int exponent = 0;
  while ((value /= 2) != 0) ++exponent;
  return std::int64_t{1} << (exponent - std::numeric_limits<T>::digits + 1);
}

template <RandomReal T>
std::int64_t move_low_in(std::int64_t low) {
  const T next = static_cast<T>(low + 1);
  if (next >= T{0x1p63} || static_cast<std::int64_t>(next) >= low) return low;
  return static_cast<std::int64_t>(next) + spacing_at<T>(low + 1);
}

template <RandomReal T>
std::int64_t move_high_in(std::int64_t high) {
  const T last = static_cast<T>(high - 1);
  if (last >= T{0x1p63} || static_cast<std::int64_t>(last) < high) return high;
  return static_cast<std::int64_t>(last) - spacing_at<T>(high - 1);
}

template <class T>
void fill_modulo(std::span<T> out, std::uint64_t range, std::int64_t low, Generator& generator) {
  constexpr bool kHoldsMoreThan32Bits = RandomReal<T> || std::is_same_v<T, std::int64_t>;
  constexpr std::uint64_t kWords = std::uint64_t{1} << 32;
  const auto shifted = [low](std::uint64_t offset) {
    return static_cast<T>(static_cast<std::int64_t>(offset + static_cast<std::uint64_t>(low)));
  };
  if (range < kWords) {
    const auto narrow = static_cast<std::uint32_t>(range);
    fill_from_words<std::uint32_t>(out, generator,
                                   [=](std::uint32_t word) { return shifted(word % narrow); });
  } else if (!kHoldsMoreThan32Bits) {
    fill_from_words<std::uint32_t>(out, generator,
                                   [=](std::uint32_t word) { return shifted(word); });
  } else {
    fill_from_words<std::uint64_t>(out, generator,
                                   [=](std::uint64_t word) { return shifted(word % range); });
  }
}

}  // namespace

double draw_uniform(Generator& generator) {
  std::array<std::uint32_t, 2> words;
  generator.draw(words);
  return unit_uniform<double>(word_at<std::uint64_t>(words.data(), 0));
}

// Draws one normal; the other of the pair is stored for the next call, possibly of another fill.
double draw_normal(Generator& generator) {
  if (const std::optional<double> spare = generator.take_spare_normal()) return *spare;
  const double turn = draw_uniform(generator);
  const double uniform = draw_uniform(generator);
  const NormalPair pair = normal_pair(uniform, turn);
  generator.leave_spare_normal(pair.second);
  return pair.first;
}

template <RandomReal T>
void fill_uniform(std::span<T> out, double from, double to, Generator& generator) {
  const auto inside = [](double bound) {
    return bound >= std::numeric_limits<T>::lowest() && bound <= std::numeric_limits<T>::max();
  };
  check_bound(inside(from), "uniform_", "from", type_name<T>(), from);
  check_bound(inside(to), "uniform_", "to", type_name<T>(), to);
  check(from <= to, ErrorCode::kInvalidArgument, "uniform_", "expected from <= to, got from=", from,
        " and to=", to, '.');
  check(to - from <= std::numeric_limits<T>::max(), ErrorCode::kInvalidArgument, "uniform_",
        "expected a range to - from that fits into ", type_name<T>(), ", got from=", from,
        " and to=", to, '.');
  const auto low = static_cast<T>(from);
  const T width = static_cast<T>(to) - low;
  if (low == 0) {
    fill_from_words<UniformWord<T>>(out, generator,
                                    [=](auto word) { return unit_uniform<T>(word) * width; });
  } else {
    fill_from_words<UniformWord<T>>(
        out, generator, [=](auto word) { return fused(unit_uniform<T>(word), width, low); });
  }
}

template <RandomReal T>
void fill_normal(std::span<T> out, double mean, double std, Generator& generator) {
  if (out.size() < kNormalBlock) return fill_normal_singly(out, mean, std, generator);
  check_std(std);
  fill_normal_blocks(out, mean, std, generator);
}

template <RandomReal T>
void fill_normal_singly(std::span<T> out, double mean, double std, Generator& generator) {
  check_std(std);
  const std::lock_guard lock(generator.mutex());
  for (T& element : out) element = static_cast<T>(fused(draw_normal(generator), std, mean));
}

template <RandomElement T>
void fill_randint(std::span<T> out, std::int64_t low, std::int64_t high, Generator& generator) {
  check(low < high, ErrorCode::kInvalidArgument, "random_", "expected from < to, got from=", low,
        " and to=", high, '.');
  if constexpr (RandomReal<T>) {
    const std::int64_t first = move_low_in<T>(low);
    const std::int64_t last = move_high_in<T>(high);
    check(first < last, ErrorCode::kInvalidArgument, "random_",
          "the range is empty when rounded to ", type_name<T>(), ": from=", first, " and to=", last,
          '.');
    low = first;
    high = last;
  } else {
    const auto inside = [](std::int64_t bound) {
      return bound >= static_cast<std::int64_t>(std::numeric_limits<T>::lowest()) &&
             bound <= static_cast<std::int64_t>(std::numeric_limits<T>::max());
    };
    check_bound(inside(low), "random_", "from", type_name<T>(), low);
    check_bound(inside(high - 1), "random_", "to - 1", type_name<T>(), high - 1);
  }
  fill_modulo(out, static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low), low,
              generator);
}

template <RandomElement T>
void fill_random(std::span<T> out, Generator& generator) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr std::uint64_t kRange = (std::uint64_t{1} << kDigits) + (RandomReal<T> ? 1 : 0);
  using Word = std::conditional_t<(kDigits > 32), std::uint64_t, std::uint32_t>;
  fill_from_words<Word>(out, generator, [](Word word) {
    return static_cast<T>(static_cast<std::int64_t>(word % kRange));
  });
}

template <RandomElement T>
  requires(!std::same_as<T, bool>)
void fill_randperm(std::span<T> out, Generator& generator) {
  constexpr std::uint64_t kMost = RandomReal<T>
                                      ? (std::uint64_t{1} << std::numeric_limits<T>::digits) + 1
                                      : static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  const std::uint64_t n = out.size();
  check(n <= kMost, ErrorCode::kInvalidArgument, "randperm", "expected n <= ", kMost, " for ",
        type_name<T>(), ", got ", n, '.');
  const std::lock_guard lock(generator.mutex());
  // From this size on 32-bit words would be visibly nonuniform, and PyTorch runs an inside-out
  // shuffle with 64-bit words.
  constexpr std::uint64_t kMany = 0xffffffffu / 20;
  if (n >= kMany) {
    each_word<std::uint64_t>(generator, out.size(), [&](std::uint64_t word, std::size_t i) {
      const auto from = static_cast<std::size_t>(word % (i + std::uint64_t{1}));
      out[i] = static_cast<T>(i);
      std::swap(out[i], out[from]);
    });
    return;
  }
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<T>(i);
  if (n < 2) return;
  each_word<std::uint32_t>(generator, out.size() - 1, [&](std::uint32_t word, std::size_t i) {
    std::swap(out[i], out[i + word % static_cast<std::uint32_t>(n - i)]);
  });
}

template <RandomElement T>
void fill_bernoulli(std::span<T> out, double p, Generator& generator) {
  check_probability(p);
  fill_from_words<std::uint64_t>(out, generator, [=](std::uint64_t word) {
    return static_cast<T>(unit_uniform<double>(word) < p);
  });
}

template <RandomReal T>
void fill_bernoulli(std::span<T> out, std::span<const T> p, Generator& generator) {
  check(p.size() == out.size(), ErrorCode::kShapeMismatch, "bernoulli", "expected ", out.size(),
        " probabilities, one per element, got ", p.size(), ".");
  for (const T probability : p) check_probability(static_cast<double>(probability));
  const std::lock_guard lock(generator.mutex());
  each_word<UniformWord<T>>(generator, out.size(), [&](UniformWord<T> word, std::size_t i) {
    out[i] = static_cast<T>(unit_uniform<T>(word) < p[i]);
  });
}

template <RandomReal T>
void fill_exponential(std::span<T> out, double lambda, Generator& generator) {
  check(lambda > 0, ErrorCode::kInvalidArgument, "exponential_", "expected lambda > 0, got ",
        lambda, '.');
  const double scale = -1.0 / lambda;
  fill_from_words<std::uint64_t>(out, generator, [=](std::uint64_t word) {
    return static_cast<T>(scale * unit_log(1 - unit_uniform<double>(word)));
  });
}

#define EG_RANDOM_INTEGERS(T)                                                          \
  template void fill_randint<T>(std::span<T>, std::int64_t, std::int64_t, Generator&); \
  template void fill_random<T>(std::span<T>, Generator&);                              \
  template void fill_bernoulli<T>(std::span<T>, double, Generator&);
#define EG_RANDOM_REALS(T)                                                       \
  template void fill_uniform<T>(std::span<T>, double, double, Generator&);       \
  template void fill_normal<T>(std::span<T>, double, double, Generator&);        \
  template void fill_normal_singly<T>(std::span<T>, double, double, Generator&); \
  template void fill_bernoulli<T>(std::span<T>, std::span<const T>, Generator&); \
  template void fill_exponential<T>(std::span<T>, double, Generator&);

EG_RANDOM_INTEGERS(float)
EG_RANDOM_INTEGERS(double)
EG_RANDOM_INTEGERS(std::int64_t)
EG_RANDOM_INTEGERS(std::int32_t)
EG_RANDOM_INTEGERS(std::uint8_t)
EG_RANDOM_INTEGERS(bool)
EG_RANDOM_REALS(float)
EG_RANDOM_REALS(double)
template void fill_randperm<float>(std::span<float>, Generator&);
template void fill_randperm<double>(std::span<double>, Generator&);
template void fill_randperm<std::int64_t>(std::span<std::int64_t>, Generator&);
template void fill_randperm<std::int32_t>(std::span<std::int32_t>, Generator&);
template void fill_randperm<std::uint8_t>(std::span<std::uint8_t>, Generator&);

}  // namespace eg
