// compile: kernels

// Rejection methods and transformations with PyTorch's constants and order of draws. T is the type
// of the arguments: where PyTorch computes in float32 for float32 arguments, this code does too.

#include "runtime/random_samples.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"

namespace eg {
namespace {

double log_gamma(double x) {
  // std::lgamma writes a global variable, which is a data race between threads.
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// Hormann's transformed rejection, for rates from 10 on.
double draw_large_poisson(double rate, Generator& generator) {
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double tight = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = draw_uniform(generator) - 0.5;
    const double v = draw_uniform(generator);
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= tight) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double accepted = std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b);
    if (accepted <= -rate + k * log_rate - log_gamma(k + 1)) return k;
  }
}

// The error of Stirling's formula for log(k!).
double stirling_tail(double k) {
  constexpr std::array<double, 10> kTails{
      0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
      0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
      0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kTails[static_cast<std::size_t>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// For few successes: the lengths of the runs of failures between them are geometric.
template <RandomReal T>
T draw_few_successes(T count, T probability, Generator& generator) {
  const double log_failure = std::log1p(-probability);
  double trials = 0;
  T successes = 0;
  while (true) {
    trials += std::ceil(std::log(draw_uniform(generator)) / log_failure);
    if (trials > static_cast<double>(count)) return successes;
    successes += 1;
  }
}

// Hormann's transformed rejection with squeeze (BTRS), for 10 or more successes on average.
template <RandomReal T>
T draw_many_successes(T count, T probability, Generator& generator) {
  const double deviation = std::sqrt(count * probability * (1 - probability));
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * static_cast<double>(probability);
  const double c = static_cast<double>(count * probability) + 0.5;
  const double tight = 0.92 - 4.2 / b;
  const double odds = probability / (1 - probability);
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double m = std::floor((count + 1) * probability);
  const double n = count;
  while (true) {
    const double u = draw_uniform(generator) - 0.5;
    const double v = draw_uniform(generator);
    const double us = 0.5 - std::fabs(u);
    const auto k = static_cast<T>(std::floor((2 * a / us + b) * u + c));
    if (k < 0 || k > count) continue;
    if (us >= 0.07 && v <= tight) return k;
    const double x = k;
    const double bound = (m + 0.5) * std::log((m + 1) / (odds * (n - m + 1))) +
                         (n + 1) * std::log((n - m + 1) / (n - x + 1)) +
                         (x + 0.5) * std::log(odds * (n - x + 1) / (x + 1)) + stirling_tail(m) +
                         stirling_tail(n - m) - stirling_tail(x) - stirling_tail(n - x);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

// For probabilities in (0, 1/2].
template <RandomReal T>
T draw_successes(T count, T probability, Generator& generator) {
  return count * probability >= 10 ? draw_many_successes(count, probability, generator)
                                   : draw_few_successes(count, probability, generator);
}

template <class T, class Draw>
void fill_each(std::span<T> out, Generator& generator, Draw draw) {
  const std::lock_guard lock(generator.mutex());
  for (T& element : out) element = static_cast<T>(draw());
}

}  // namespace

double draw_poisson(double rate, Generator& generator) {
  if (rate >= 10) return draw_large_poisson(rate, generator);
  if (rate == 0) return 0;
  const double end = std::exp(-rate);
  double events = 0;
  for (double product = draw_uniform(generator); product > end; product *= draw_uniform(generator))
    events += 1;
  return events;
}

template <RandomReal T>
T draw_binomial(T count, T probability, Generator& generator) {
  if (count <= 0 || probability <= 0) return 0;
  if (probability >= 1) return count;
  if (std::isnan(probability) || std::isnan(count)) return std::numeric_limits<T>::quiet_NaN();
  if (probability <= T{0.5}) return draw_successes(count, probability, generator);
  const auto failure = static_cast<T>(1 - static_cast<double>(probability));
  return count - draw_successes(count, failure, generator);
}

// Marsaglia and Tsang (2000). The float32 constants are PyTorch's.
template <RandomReal T>
T draw_gamma(T alpha, Generator& generator) {
  double scale = 1;
  if (alpha < 1) {
    if (alpha == 0) return 0;
    // Uses alpha + 1, for which more draws are accepted, and rescales the result.
    scale = std::pow(1 - draw_uniform(generator), static_cast<double>(1 / alpha));
    alpha += 1;
  }
  const double d = alpha - static_cast<T>(1.0F / 3.0F);
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    double x = 0;
    double y = 0;
    do {
      x = draw_normal(generator);
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y;
    const double u = 1 - draw_uniform(generator);
    const double xx = x * x;
    // The comparisons never accept a NaN.
    if (std::isnan(d) || u < 1 - static_cast<double>(0.0331F) * xx * xx ||
        std::log(u) < 0.5 * xx + d * (1 - v + std::log(v)))
      return static_cast<T>(scale * d * v);
  }
}

template <RandomElement T>
  requires(!std::same_as<T, bool>)
void fill_geometric(std::span<T> out, double p, Generator& generator) {
  check(p > 0 && p < 1, ErrorCode::kInvalidArgument, "geometric_",
        "expected p between 0 and 1, got ", p, '.');
  const double log_failure = std::log1p(-p);
  fill_each(out, generator, [&] {
    const double trials = std::ceil(std::log(draw_uniform(generator)) / log_failure);
    if constexpr (RandomReal<T>) {
      return trials;
    } else {
      return static_cast<std::int64_t>(trials);
    }
  });
}

template <RandomReal T>
void fill_cauchy(std::span<T> out, double median, double sigma, Generator& generator) {
  check(sigma > 0, ErrorCode::kInvalidArgument, "cauchy_", "expected sigma > 0, got ", sigma, '.');
  fill_each(out, generator, [&] {
    return median + sigma * std::tan(std::numbers::pi * (draw_uniform(generator) - 0.5));
  });
}

template <RandomReal T>
void fill_log_normal(std::span<T> out, double mean, double std, Generator& generator) {
  check(std > 0, ErrorCode::kInvalidArgument, "log_normal_", "expected std > 0, got ", std, '.');
  fill_each(out, generator, [&] { return std::exp(draw_normal(generator) * std + mean); });
}

#define EG_RANDOM_SAMPLES(T)                                              \
  template T draw_binomial<T>(T, T, Generator&);                          \
  template T draw_gamma<T>(T, Generator&);                                \
  template void fill_cauchy<T>(std::span<T>, double, double, Generator&); \
  template void fill_log_normal<T>(std::span<T>, double, double, Generator&);

EG_RANDOM_SAMPLES(float)
EG_RANDOM_SAMPLES(double)
template void fill_geometric<float>(std::span<float>, double, Generator&);
template void fill_geometric<double>(std::span<double>, double, Generator&);
template void fill_geometric<std::int64_t>(std::span<std::int64_t>, double, Generator&);
template void fill_geometric<std::int32_t>(std::span<std::int32_t>, double, Generator&);
template void fill_geometric<std::uint8_t>(std::span<std::uint8_t>, double, Generator&);

}  // namespace eg
