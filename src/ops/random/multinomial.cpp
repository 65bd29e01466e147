#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "dispatch/var.h"
#include "ops/create/copy.h"
#include "ops/index/order.h"
#include "ops/random/fill.h"
#include "ops/random/samples.h"
#include "ops/reduce/minmax.h"
#include "ops/reduce/scan.h"
#include "runtime/random_samples.h"

namespace eg {
namespace {

template <class T>
void check_weights(std::span<const T> row) {
  T sum = 0;
  for (const T weight : row) {
    check(weight >= 0 && std::isfinite(weight), ErrorCode::kInvalidArgument, Multinomial::doc.name,
          "weights must be finite and not negative, got ", weight, '.');
    sum += weight;
  }
  check(sum > 0, ErrorCode::kInvalidArgument, Multinomial::doc.name,
        "the weights of a row must have a positive sum, got ", sum, '.');
}

// The cumulative distribution of a row of weights, computed in their dtype as in PyTorch.
template <class T>
std::vector<T> cumulative(std::span<const T> row) {
  std::vector<T> ends;
  ends.reserve(row.size());
  T sum = 0;
  for (const T weight : row) ends.push_back(sum += weight);
  for (T& end : ends) end /= sum;
  ends.back() = 1;
  return ends;
}

// Draws indices into each row of `weights`, one by one.
template <class T>
void draw_with_replacement(std::span<const T> weights, std::size_t categories,
                           std::span<std::int64_t> out, std::size_t count) {
  Generator& generator = active_generator();
  const std::lock_guard lock(generator.mutex());
  for (std::size_t row = 0; row * categories < weights.size(); ++row) {
    const std::vector<T> ends = cumulative(weights.subspan(row * categories, categories));
    for (std::int64_t& picked : out.subspan(row * count, count)) {
      const double u = draw_uniform(generator);
      const auto end = std::ranges::lower_bound(ends, u, {}, [](T e) { return double{e}; });
      picked = end - ends.begin();
    }
  }
}

// The positions of the largest quotients of each row.
Tensor winners(const Tensor& races, std::int64_t count) {
  if (count == 1) return Argmax::call(races, -1, true);
  return Topk::call(races, count)[1];
}

// The indices of the largest p / q, for exponentially distributed q, are samples without
// replacement.
template <class T>
Tensor draw_without_replacement(const Tensor& weights, std::int64_t count) {
  const Tensor waits = empty_with_layout_of(weights, weights.dtype());
  fill_exponential(elements<T>(waits), 1);
  return winners(weights / waits, count);
}

Tensor weighted_on_device(const Tensor& input, const Shape& shape, bool replacement) {
  const Tensor weights = packed(ToDType::call(detach(input), DType::kFloat32));
  const Tensor least = Amin::call(weights, Dims{-1});
  const Tensor most = Amax::call(weights, Dims{-1});
  const std::int64_t size = weights.shape().back();
  const kernel::WeightRows from{weights.numel() / size, size, weights.memory(), least.memory(),
                                most.memory()};
  if (!replacement) {
    const Tensor races = Tensor::empty(weights.shape(), DType::kFloat32, weights.device());
    run(kernel::DrawRaces{Multinomial::doc.name, from, next_numbers(weights.numel()),
                          races.memory()});
    return winners(races, shape.back());
  }
  const Tensor sums = Cumsum::call(weights, -1);
  const Tensor result = Tensor::empty(shape, DType::kInt64, weights.device());
  run(kernel::DrawPositions{Multinomial::doc.name, from, shape.back(), next_numbers(result.numel()),
                            sums.memory(), result.memory()});
  return result;
}

}  // namespace

Tensor Multinomial::call(const Tensor& input, std::int64_t num_samples, bool replacement) {
  check(input.ndim() == 1 || input.ndim() == 2, ErrorCode::kShapeMismatch, doc.name,
        "expected an input of 1 or 2 dimensions, got shape ", input.shape(), '.');
  check(num_samples > 0, ErrorCode::kInvalidArgument, doc.name, "numSamples must be positive, got ",
        num_samples, '.');
  const std::int64_t categories = input.shape().back();
  check(replacement || num_samples <= categories, ErrorCode::kInvalidArgument, doc.name,
        "cannot draw ", num_samples, " samples from ", categories,
        " categories without replacement.");
  check(categories <= 1 << 24, ErrorCode::kInvalidArgument, doc.name,
        "expected at most 2^24 categories, got ", categories, '.');
  Shape shape = input.shape();
  shape.back() = num_samples;
  return visit_floating(input.dtype(), doc.name, [&]<class T>() {
    if (draws_for_each(input))
      return weighted_on_device(input, shape, replacement && num_samples > 1);
    const Tensor weights = on_host(detach(input));
    const Tensor rows = packed(weights);
    const auto width = static_cast<std::size_t>(categories);
    const std::int64_t count = input.ndim() == 1 ? 1 : input.shape()[0];
    for (std::int64_t row = 0; row < count; ++row) {
      check_weights<T>(elements<T>(rows).subspan(static_cast<std::size_t>(row) * width, width));
    }
    if (count > 0 && (!replacement || num_samples == 1))
      return moved(draw_without_replacement<T>(weights, num_samples), input.device());
    const Tensor result = Tensor::empty(shape, DType::kInt64);
    draw_with_replacement<T>(elements<T>(rows), width, elements<std::int64_t>(result),
                             static_cast<std::size_t>(num_samples));
    return moved(result, input.device());
  });
}

}  // namespace eg
