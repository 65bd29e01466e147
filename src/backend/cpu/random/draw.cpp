// The random numbers of devices, computed on the CPU.

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/dtype.h"
#include "base/scalar.h"
#include "kernels/dropout.h"
#include "kernels/random.h"
#include "runtime/random_samples.h"
#include "runtime/thread_pool.h"

namespace eg::kernel {
namespace {

constexpr std::int64_t kGroup = 4;

std::array<std::uint32_t, 4> words_of(const PhiloxPosition& position, std::int64_t group) {
  const auto counter = static_cast<std::uint64_t>(position.group + group);
  return philox_words(
      {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32U), 0, 0},
      {static_cast<std::uint32_t>(position.key_low),
       static_cast<std::uint32_t>(position.key_high)});
}

// In [0, 1), with the 24 bits of a float32.
float uniform_of(std::uint32_t word) { return static_cast<float>(word >> 8U) * 0x1p-24F; }

// In (0, 1].
float positive_uniform_of(std::uint32_t word) {
  return static_cast<float>(word) * 0x1p-32F + 0x1p-33F;
}

double normal_of(const std::array<std::uint32_t, 4>& words, std::int64_t i) {
  const std::size_t pair = i < 2 ? 0 : 2;
  const double radius = std::sqrt(-2 * std::log(double{positive_uniform_of(words[pair])}));
  const double angle = 2 * std::numbers::pi * uniform_of(words[pair + 1]);
  return radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

// At rate 1.
double exponential_of(std::uint32_t word) { return -std::log(double{positive_uniform_of(word)}); }

// A wait of 0 would divide by zero.
constexpr float kLeastWait = 1e-8F;

// Element i of a group of four.
Scalar element_of(const DrawRandom& draw, const std::array<std::uint32_t, 4>& words,
                  std::int64_t i) {
  const std::uint32_t word = words[static_cast<std::size_t>(i)];
  switch (draw.kind) {
    case RandomKind::kUniform: {
      const double value = draw.a + uniform_of(word) * (draw.b - draw.a);
      return value < draw.b ? value : draw.a;
    }
    case RandomKind::kNormal:
      return draw.a + normal_of(words, i) * draw.b;
    case RandomKind::kInteger: {
      if (draw.b == 0) return std::int64_t{std::bit_cast<std::int32_t>(word)};
      return static_cast<std::int64_t>(draw.a) + word % static_cast<std::int64_t>(draw.b);
    }
    case RandomKind::kBernoulli:
      return std::int64_t{uniform_of(word) < static_cast<float>(draw.a)};
    case RandomKind::kExponential:
      return exponential_of(word) / draw.a;
    case RandomKind::kGeometric:
      return std::max(std::ceil(exponential_of(word) / draw.a), 1.0);
    case RandomKind::kCauchy:
      return draw.a + draw.b * std::tan(std::numbers::pi * (uniform_of(word) - 0.5));
    case RandomKind::kLogNormal:
      return std::exp(draw.a + normal_of(words, i) * draw.b);
  }
  return 0;
}

// Calls visit(first, last, words) for every group of elements.
template <class Visit>
void for_each_group(std::int64_t count, const PhiloxPosition& position, Visit visit) {
  const std::int64_t groups = (count + kGroup - 1) / kGroup;
  parallel_for(0, groups, kMinElementsPerTask, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group)
      visit(kGroup * group, std::min(kGroup * (group + 1), count), words_of(position, group));
  });
}

void check_rows(std::string_view op, const WeightRows& from) {
  for (std::int64_t row = 0; row < from.rows; ++row) {
    const float most = from.most.as<float>()[row];
    check(from.least.as<float>()[row] >= 0 && most > 0 && std::isfinite(most),
          ErrorCode::kInvalidArgument, op,
          "weights must be finite, not negative, and not all zero: see row ", row, '.');
  }
}

}  // namespace

void DrawRandom::compute_on_cpu() const {
  visit_dtype(y.dtype(), [&]<class T>() {
    T* const to = y.as<T>();
    for_each_group(count, position, [&](std::int64_t first, std::int64_t last, const auto& words) {
      for (std::int64_t i = first; i < last; ++i)
        to[i] = element_of(*this, words, i - first).template to<T>();
    });
  });
}

void DrawDropout::compute_on_cpu() const {
  bool* const is_kept = mask.as<bool>();
  for_each_group(count, position, [&](std::int64_t first, std::int64_t last, const auto& words) {
    for (std::int64_t i = first; i < last; ++i)
      is_kept[i] =
          uniform_of(words[static_cast<std::size_t>(i - first)]) < static_cast<float>(keep);
  });
  Dropout{count, keep, x, mask.view(), y}.compute_on_cpu();
}

void DrawPoisson::compute_on_cpu() const {
  for (std::int64_t i = 0; i < count; ++i) {
    const float rate = rates.as<float>()[i];
    check(rate >= 0, ErrorCode::kInvalidArgument, op, "rates must not be negative: see element ", i,
          '.');
    const auto words = words_of(position, i);
    Generator generator(words[0]);
    y.as<float>()[i] = static_cast<float>(draw_poisson(rate, generator));
  }
}

void DrawRaces::compute_on_cpu() const {
  check_rows(op, from);
  const auto* const weights = from.weights.as<float>();
  for_each_group(from.rows * from.size, position,
                 [&](std::int64_t first, std::int64_t last, const auto& words) {
                   for (std::int64_t i = first; i < last; ++i) {
                     const double wait = exponential_of(words[static_cast<std::size_t>(i - first)]);
                     quotients.as<float>()[i] =
                         weights[i] / std::max(static_cast<float>(wait), kLeastWait);
                   }
                 });
}

void DrawPositions::compute_on_cpu() const {
  check_rows(op, from);
  for_each_group(
      from.rows * count, position, [&](std::int64_t first, std::int64_t last, const auto& words) {
        for (std::int64_t i = first; i < last; ++i) {
          const auto* const begin = sums.as<float>() + i / count * from.size;
          const auto* const end = begin + from.size;
          const float turn = uniform_of(words[static_cast<std::size_t>(i - first)]) * *(end - 1);
          positions.as<std::int64_t>()[i] = std::upper_bound(begin, end, turn) - begin;
        }
      });
}

}  // namespace eg::kernel
