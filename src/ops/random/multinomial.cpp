#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "dispatch/var.h"
#include "ops/index/order.h"
#include "ops/random/fill.h"
#include "ops/random/samples.h"
#include "ops/reduce/minmax.h"
#include "runtime/random_samples.h"

namespace eg {
namespace {

template <class T>
void check_weights(std::span<const T> row) {
  T sum = 0;
  for (const T weight : row) {
    check(weight >= 0 && std::isfinite(weight), ErrorCode::kInvalidArgument, Multinomial::doc.name,
          "probability tensor contains either `inf`, `nan` or element < 0: invalid multinomial "
          "distribution (encountering probability entry ",
          weight < 0 ? "< 0" : "= infinity or NaN", "), got ", weight, '.');
    sum += weight;
  }
  check(sum > 0, ErrorCode::kInvalidArgument, Multinomial::doc.name,
        "invalid multinomial distribution (sum of probabilities <= 0).");
}

// The cumulative distribution of a row of weights, in their own dtype as PyTorch has it.
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

// Positions in each row of `weights`, drawn one by one.
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

// The largest of p / q for exponential q are draws without replacement.
template <class T>
Tensor draw_without_replacement(const Tensor& weights, std::int64_t count) {
  const Tensor waits = empty_with_layout_of(weights, weights.dtype());
  fill_exponential(elements<T>(waits), 1);
  const Tensor races = (Var(weights) / Var(waits)).tensor();
  if (count == 1) return Argmax::call(races, -1, true);
  return Topk::call(races, count)[1];
}

}  // namespace

Tensor Multinomial::call(const Tensor& input, std::int64_t num_samples, bool replacement) {
  check(input.ndim() == 1 || input.ndim() == 2, ErrorCode::kShapeMismatch, doc.name,
        "prob_dist must be 1 or 2 dim, got shape ", input.shape(), '.');
  check(num_samples > 0, ErrorCode::kInvalidArgument, doc.name,
        "cannot sample n_sample <= 0 samples, got ", num_samples, '.');
  const std::int64_t categories = input.shape().back();
  check(replacement || num_samples <= categories, ErrorCode::kInvalidArgument, doc.name,
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement, got ",
        num_samples, " of ", categories, '.');
  check(categories <= 1 << 24, ErrorCode::kInvalidArgument, doc.name,
        "number of categories cannot exceed 2^24, got ", categories, '.');
  Shape shape = input.shape();
  shape.back() = num_samples;
  return visit_floating(input.dtype(), doc.name, [&]<class T>() {
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
