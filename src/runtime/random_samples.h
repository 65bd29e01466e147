#pragma once

// Random numbers that need a variable number of words: a draw may be rejected and repeated. They
// are therefore drawn one by one, in PyTorch's order.

#include <cstdint>
#include <span>

#include "runtime/random.h"

namespace eg {

/// A uniform number in [0, 1). The caller holds the generator's mutex, as for all draws.
double draw_uniform(Generator& generator);
/// A normal number with mean 0 and standard deviation 1; reads the stream like a short fill.
double draw_normal(Generator& generator);
/// A Poisson number: the number of events at a nonnegative rate.
double draw_poisson(double rate, Generator& generator);
/// A binomial number: the number of successes in `count` trials; NaN if `probability` is NaN.
template <RandomReal T>
T draw_binomial(T count, T probability, Generator& generator);
/// A gamma number with shape `alpha` and scale 1; may be 0.
template <RandomReal T>
T draw_gamma(T alpha, Generator& generator);

/// geometric_(p): the number of trials up to the first success.
template <RandomElement T>
  requires(!std::same_as<T, bool>)
void fill_geometric(std::span<T> out, double p, Generator& generator = active_generator());

/// cauchy_(median, sigma).
template <RandomReal T>
void fill_cauchy(std::span<T> out, double median, double sigma,
                 Generator& generator = active_generator());

/// log_normal_(mean, std): numbers whose logarithm is normally distributed.
template <RandomReal T>
void fill_log_normal(std::span<T> out, double mean, double std,
                     Generator& generator = active_generator());

}  // namespace eg
