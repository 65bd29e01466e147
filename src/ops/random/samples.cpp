#include "ops/random/samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "dispatch/elementwise.h"
#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "dispatch/var.h"
#include "formulas/activation.h"
#include "formulas/arithmetic.h"
#include "ops/create/copy.h"
#include "ops/elementwise/branch.h"
#include "ops/index/order.h"
#include "ops/random/fill.h"
#include "ops/random/reparameterised.h"
#include "ops/reduce/minmax.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/view.h"
#include "runtime/random_samples.h"

namespace eg {
namespace {

// The values side by side on the host, whatever the device.
Tensor host_values(const Tensor& t) { return packed(on_host(t)); }

// A tensor like `input` whose elements `draw(element, generator)` makes of those of `input`, in
// row-major order.
template <class T, class Draw>
Tensor draw_each(const Tensor& input, Draw draw) {
  const Tensor values = host_values(input);
  const Tensor result = Tensor::empty(input.shape(), input.dtype());
  Generator& generator = active_generator();
  const std::lock_guard lock(generator.mutex());
  std::ranges::transform(elements<T>(values), elements<T>(result).begin(),
                         [&](T value) { return draw(value, generator); });
  return moved(result, input.device());
}

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

// The derivative of StandardGamma, of which there is none in turn.
struct StandardGammaGrad {
  static constexpr op::Doc doc{"standard_gamma_grad", "How gamma numbers move with alpha."};
  struct Attrs {};

  static Tensor call(const Tensor& alpha, const Tensor& sample) {
    const Tensor shapes = host_values(ToDType::call(detach(alpha), DType::kFloat64));
    const Tensor samples = host_values(ToDType::call(detach(sample), DType::kFloat64));
    const Tensor digammas = digamma(Var(shapes)).tensor();
    const Tensor slopes = Tensor::empty(alpha.shape(), DType::kFloat64);
    for (std::size_t i = 0; i < elements<double>(slopes).size(); ++i) {
      elements<double>(slopes)[i] = gamma_slope(
          elements<double>(shapes)[i], elements<double>(samples)[i], elements<double>(digammas)[i]);
    }
    const Tensor result = moved(ToDType::call(slopes, alpha.dtype()), alpha.device());
    return record<StandardGammaGrad>(result, {alpha, sample}, {});
  }

  static GradList backward(const Backward<StandardGammaGrad>&) {
    fail(ErrorCode::kNotDifferentiable,
         "[standard_gamma] the derivative for '_standard_gamma_grad' is not implemented.");
  }
};

// The derivative of SampleDirichlet's own elements, of which there is none in turn.
struct DirichletGrad {
  static constexpr op::Doc doc{"dirichlet_grad", "How parts of 1 move with their alpha."};
  struct Attrs {};

  static Tensor call(const Tensor& alpha, const Tensor& sample) {
    const Tensor alphas = host_values(ToDType::call(detach(alpha), DType::kFloat64));
    const Tensor samples = host_values(ToDType::call(detach(sample), DType::kFloat64));
    const Tensor totals =
        packed(Expand::call(Sum::call(alphas, Dims{-1}, true), Dims(alphas.shape())));
    const Tensor digammas = digamma(Var(alphas)).tensor();
    const Tensor digammas_of_rest = digamma(Var(totals) - Var(alphas)).tensor();
    const Tensor digammas_of_total = digamma(Var(totals)).tensor();
    const Tensor slopes = Tensor::empty(alpha.shape(), DType::kFloat64);
    for (std::size_t i = 0; i < elements<double>(slopes).size(); ++i) {
      elements<double>(slopes)[i] = beta_slope(
          elements<double>(samples)[i], elements<double>(alphas)[i], elements<double>(totals)[i],
          {elements<double>(digammas)[i], elements<double>(digammas_of_rest)[i],
           elements<double>(digammas_of_total)[i]});
    }
    const Tensor result = moved(ToDType::call(slopes, alpha.dtype()), alpha.device());
    return record<DirichletGrad>(result, {alpha, sample}, {});
  }

  static GradList backward(const Backward<DirichletGrad>&) {
    fail(ErrorCode::kNotDifferentiable,
         "[sample_dirichlet] the derivative for '_dirichlet_grad' is not implemented.");
  }
};

// The slopes of rrelu() in training: random below zero, one above.
template <class T>
Tensor random_slopes(const Tensor& input, double lower, double upper) {
  return draw_each<T>(input, [=](T x, Generator& generator) {
    return x <= 0 ? static_cast<T>(draw_uniform(generator) * (upper - lower) + lower) : T{1};
  });
}

void check_deviations(const Tensor& std) {
  if (std.numel() == 0) return;
  const Tensor least = Amin::call(detach(std));
  check(is_true((Var(least) >= Var(0)).tensor()), ErrorCode::kInvalidArgument, Normal::doc.name,
        "normal expects all elements of std >= 0.0.");
}

double number_of(const Tensor& t) { return *ToDType::call(t, DType::kFloat64).data_as<double>(); }

Tensor normal_of_numbers(const Tensor& mean, const Tensor& std, const std::optional<Dims>& size,
                         std::optional<DType> dtype) {
  check(size.has_value(), ErrorCode::kInvalidArgument, Normal::doc.name,
        "expected a size with a mean and a std that are numbers.");
  const Tensor result = Tensor::empty(*size, dtype.value_or(DType::kFloat32));
  visit_floating(result.dtype(), Normal::doc.name, [&]<class T>() {
    fill_normal(elements<T>(result), number_of(mean), number_of(std));
  });
  return moved(result, default_device());
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

Tensor Poisson::call(const Tensor& input) {
  const Tensor result = visit_floating(input.dtype(), doc.name, [&]<class T>() {
    for (const T rate : elements<T>(host_values(input))) {
      check(rate >= 0, ErrorCode::kInvalidArgument, doc.name,
            "invalid Poisson rate, expected rate to be non-negative, got ", rate, '.');
    }
    return draw_each<T>(input, [](T rate, Generator& generator) {
      return static_cast<T>(draw_poisson(static_cast<double>(rate), generator));
    });
  });
  return record<Poisson>(result, {input}, {});
}

Tensor Binomial::call(const Tensor& count, const Tensor& prob) {
  check(count.dtype() == prob.dtype(), ErrorCode::kDtypeMismatch, doc.name, "Found dtype ",
        prob.dtype(), " but expected ", count.dtype(), '.');
  check(is_expandable_to(prob.shape(), count.shape()), ErrorCode::kShapeMismatch, doc.name,
        "expected prob to broadcast to the shape of count, ", count.shape(), ", got ", prob.shape(),
        '.');
  const Tensor chances = host_values(Expand::call(detach(prob), Dims(count.shape())));
  const Tensor result = visit_floating(count.dtype(), doc.name, [&]<class T>() {
    const T* chance = elements<T>(chances).data();
    return draw_each<T>(count, [&](T trials, Generator& generator) {
      return draw_binomial(trials, *chance++, generator);
    });
  });
  return record<Binomial>(result, {count, prob}, {});
}

GradList Binomial::backward(const Backward<Binomial>&) {
  fail(ErrorCode::kNotDifferentiable, "[binomial] the derivative for binomial is not implemented.");
}

Tensor Normal::call(const Operand& mean, const Operand& std, const std::optional<Dims>& size,
                    std::optional<DType> dtype) {
  const Tensor& m = mean.tensor();
  const Tensor& s = std.tensor();
  if (m.is_wrapped_number() && s.is_wrapped_number()) return normal_of_numbers(m, s, size, dtype);
  check(!size.has_value() && !dtype.has_value(), ErrorCode::kInvalidArgument, doc.name,
        "a mean or a std that is a tensor decides about size and dtype: leave them out.");
  const Tensor& like = m.is_wrapped_number() ? s : m;
  const Shape shape = broadcast_shapes(m.shape(), s.shape(), doc.name);
  const Tensor drawn = Tensor::empty(shape, like.dtype());
  const double spread = s.is_wrapped_number() ? number_of(s) : 1;
  if (!s.is_wrapped_number()) check_deviations(s);
  visit_floating(like.dtype(), doc.name,
                 [&]<class T>() { fill_normal(elements<T>(drawn), 0, spread); });
  const Tensor result = moved(drawn, like.device());
  if (!s.is_wrapped_number()) call_in_place<op::Mul>(result, detach(s));
  call_in_place<op::Add>(result, detach(m));
  return record<Normal>(result, {m, s}, {});
}

GradList Normal::backward(const Backward<Normal>& b) {
  const Tensor zeros = full_like(b.grad(), 0);
  return {zeros, zeros};
}

Tensor Rrelu::call(const Tensor& input, double lower, double upper, bool training) {
  check(lower <= upper, ErrorCode::kInvalidArgument, doc.name,
        "Lower bound should be less than or equal to the upper bound, got ", lower, " and ", upper,
        '.');
  if (!training) return call_with<op::LeakyRelu>({.negative_slope = (lower + upper) / 2}, input);
  const Tensor slopes = visit_floating(input.dtype(), doc.name, [&]<class T>() {
    return random_slopes<T>(detach(input), lower, upper);
  });
  return (Var(input) * Var(slopes)).tensor();
}

Tensor StandardGamma::call(const Tensor& alpha) {
  const Tensor result = visit_floating(alpha.dtype(), doc.name, [&]<class T>() {
    return draw_each<T>(alpha, [](T shape, Generator& generator) {
      return std::max(std::numeric_limits<T>::min(), draw_gamma(shape, generator));
    });
  });
  return record<StandardGamma>(result, {alpha}, {}, {{alpha}, {result, true}});
}

GradList StandardGamma::backward(const Backward<StandardGamma>& b) {
  const Tensor slope = StandardGammaGrad::call(b.saved(0), b.saved(1));
  return {(Var(b.grad()) * Var(slope)).tensor()};
}

Tensor SampleDirichlet::call(const Tensor& alpha) {
  check(alpha.ndim() > 0, ErrorCode::kShapeMismatch, doc.name,
        "alpha parameter must be at least one-dimensional.");
  const Tensor result = visit_floating(alpha.dtype(), doc.name, [&]<class T>() {
    // In float64, where the parts of small alphas are not all 0.
    const Tensor wide = host_values(ToDType::call(detach(alpha), DType::kFloat64));
    const Tensor gammas = draw_each<double>(wide, [](double shape, Generator& generator) {
      return std::max(std::numeric_limits<double>::min(), draw_gamma(shape, generator));
    });
    const Tensor parts = (Var(gammas) / Var(Sum::call(gammas, Dims{-1}, true))).tensor();
    const Tensor narrow = ToDType::call(parts, alpha.dtype());
    for (T& part : elements<T>(narrow))
      part = std::clamp(part, std::numeric_limits<T>::min(), std::nextafter(T{1}, T{0}));
    return moved(narrow, alpha.device());
  });
  return record<SampleDirichlet>(result, {alpha}, {}, {{alpha}, {result, true}});
}

GradList SampleDirichlet::backward(const Backward<SampleDirichlet>& b) {
  const Var result = b.saved(1);
  const Var grad = b.grad();
  const Var slope = DirichletGrad::call(b.saved(0), b.saved(1));
  const Var mean = Sum::call((grad * result).tensor(), Dims{-1}, true);
  return {(slope * (grad - mean)).tensor()};
}

Tensor GeometricInPlace::call(const Tensor& input, double p) {
  return visit_dtype(input.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      fail(ErrorCode::kDtypeMismatch, "[geometric_] not implemented for bool.");
      return input;
    } else {
      return draw_in_place<GeometricInPlace>(input, [&] {
        fill_elements<T>(input, [&](std::span<T> out) { fill_geometric(out, p); });
      });
    }
  });
}

Tensor CauchyInPlace::call(const Tensor& input, double median, double sigma) {
  return visit_floating(input.dtype(), doc.name, [&]<class T>() {
    return draw_in_place<CauchyInPlace>(input, [&] {
      fill_elements<T>(input, [&](std::span<T> out) { fill_cauchy(out, median, sigma); });
    });
  });
}

Tensor LogNormalInPlace::call(const Tensor& input, double mean, double std) {
  return visit_floating(input.dtype(), doc.name, [&]<class T>() {
    return draw_in_place<LogNormalInPlace>(input, [&] {
      fill_elements<T>(input, [&](std::span<T> out) { fill_log_normal(out, mean, std); });
    });
  });
}

}  // namespace eg
