#pragma once

// Random numbers that take as many words of the tape as they need: a draw may be rejected and begun
// again. So they are drawn one by one, in PyTorch's order.

#include <cstdint>
#include <span>

#include "runtime/random.h"

namespace eg {

/// A uniform number in [0, 1); the caller holds the generator's mutex, as for all draws.
double draw_uniform(Generator& generator);
/// A normal number of mean 0 and standard deviation 1, read from the tape as short fills are.
double draw_normal(Generator& generator);
/// The number of events at a rate that is not negative.
double draw_poisson(double rate, Generator& generator);
/// The number of successes in `count` trials; NaN for a probability of NaN.
template <RandomReal T>
T draw_binomial(T count, T probability, Generator& generator);
/// A gamma number of shape `alpha` and scale 1, which may be 0.
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

/// log_normal_(mean, std): numbers whose logarithm is normal.
template <RandomReal T>
void fill_log_normal(std::span<T> out, double mean, double std,
                     Generator& generator = active_generator());

}  // namespace eg
