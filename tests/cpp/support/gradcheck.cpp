#include "support/gradcheck.h"

#include <cmath>
#include <random>

#include "autograd/autograd.h"
#include "autograd/graph/variable.h"
#include "ops/complex/complex.h"
#include "support/tensors.h"

namespace eg::testing {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

Tensor random_tensor(const Shape& shape, std::mt19937& engine, double low, double high) {
  std::uniform_real_distribution<double> distribution(low, high);
  return generated<double>(shape, [&](std::int64_t) { return distribution(engine); });
}

// Returns weights for these tensors; undefined where there is no gradient.
TensorList weights_for(const TensorList& tensors, unsigned seed) {
  std::mt19937 engine(seed);
  TensorList weights;
  for (const Tensor& t : tensors) {
    weights.push_back(t.defined() ? random_tensor(t.shape(), engine, 0.5, 1.5) : Tensor());
  }
  return weights;
}

double weighted_sum(const TensorList& tensors, const TensorList& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined() || !weights[i].defined()) continue;
    const std::vector<double> a = values(tensors[i]);
    const std::vector<double> b = values(weights[i]);
    for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  }
  return sum;
}

// Element `index`, in row-major order, as a tensor.
Tensor element(const Tensor& t, std::int64_t index) {
  std::int64_t offset = t.offset();
  for (std::size_t d = t.shape().size(); d-- > 0;) {
    offset += index % t.shape()[d] * t.strides()[d];
    index /= t.shape()[d];
  }
  return t.alias({}, {}, offset);
}

AssertionResult compare(const TensorList& inputs, const TensorList& gradients,
                        const std::function<double()>& evaluate, const char* order,
                        const GradcheckOptions& options) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<double> analytic =
        gradients[i].defined() ? values(gradients[i]) : std::vector<double>(inputs[i].numel(), 0.0);
    if (gradients[i].defined() && gradients[i].shape() != inputs[i].shape()) {
      return AssertionFailure() << order << " gradient " << i << " has shape "
                                << ::testing::PrintToString(gradients[i].shape()) << ", its input "
                                << ::testing::PrintToString(inputs[i].shape());
    }
    for (std::int64_t j = 0; j < inputs[i].numel(); ++j) {
      const Tensor x = element(inputs[i], j);
      const double before = value(x);
      const auto set = [&](double to) { copy_data(x, eg::full({}, to, DType::kFloat64)); };
      set(before + options.step);
      const double above = evaluate();
      set(before - options.step);
      const double below = evaluate();
      set(before);
      const double numeric = (above - below) / (2 * options.step);
      const double allowed = options.tolerance * (1 + std::abs(numeric));
      if (!(std::abs(numeric - analytic[static_cast<std::size_t>(j)]) <= allowed)) {
        return AssertionFailure() << order << " gradient of input " << i << ", element " << j
                                  << ": " << analytic[static_cast<std::size_t>(j)]
                                  << ", by differences " << numeric;
      }
    }
  }
  return AssertionSuccess();
}

}  // namespace

RealForm::RealForm(const Function& of_complex, const TensorList& complex_inputs) {
  std::vector<bool> is_joined;
  for (const Tensor& input : complex_inputs) {
    is_joined.push_back(is_complex(input.dtype()));
    Tensor parts = input;
    if (is_joined.back()) {
      parts = detach(parts_of(input));
      set_requires_grad(parts, requires_grad(input));
    }
    inputs.push_back(parts);
  }
  function = [of_complex, is_joined](const TensorList& parts) {
    TensorList joined;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      joined.push_back(is_joined[i] ? ViewAsComplex::call(parts[i]) : parts[i]);
    }
    TensorList outputs = of_complex(joined);
    for (Tensor& output : outputs) {
      if (output.defined() && is_complex(output.dtype())) output = ViewAsReal::call(output);
    }
    return outputs;
  };
}

AssertionResult gradcheck(const Function& of_complex, const TensorList& complex_inputs,
                          const GradcheckOptions& options) {
  const auto [function, inputs] = RealForm(of_complex, complex_inputs);
  TensorList leaves;
  for (const Tensor& input : inputs) {
    if (requires_grad(input)) leaves.push_back(input);
  }
  const TensorList output_weights = weights_for(function(inputs), 1);
  // Outputs that depend on no leaf, such as indices, have no gradient.
  const auto differentiable_outputs = [&](TensorList& weights) {
    TensorList outputs;
    const TensorList all = function(inputs);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!requires_grad(all[i])) continue;
      outputs.push_back(all[i]);
      weights.push_back(output_weights[i]);
    }
    return outputs;
  };
  const auto gradients = [&](bool create_graph) {
    TensorList weights;
    const TensorList outputs = differentiable_outputs(weights);
    GradOptions grad_options;
    grad_options.create_graph = create_graph;
    grad_options.allow_unused = true;
    return grad(outputs, leaves, weights, grad_options);
  };
  const auto loss = [&] {
    TensorList weights;
    const TensorList outputs = differentiable_outputs(weights);
    return weighted_sum(outputs, weights);
  };

  AssertionResult result = compare(leaves, gradients(false), loss, "plain", options);
  if (!result) return result;
  const TensorList recorded = gradients(true);
  result = compare(leaves, recorded, loss, "recorded", options);
  if (!result || !options.second_order) return result;

  const TensorList gradient_weights = weights_for(recorded, 2);
  TensorList sources;
  TensorList source_weights;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    if (!requires_grad(recorded[i])) continue;
    sources.push_back(recorded[i]);
    source_weights.push_back(gradient_weights[i]);
  }
  GradOptions grad_options;
  grad_options.allow_unused = true;
  const TensorList second = sources.empty() ? TensorList(leaves.size())
                                            : grad(sources, leaves, source_weights, grad_options);
  return compare(
      leaves, second, [&] { return weighted_sum(gradients(false), gradient_weights); }, "second",
      options);
}

AssertionResult gradcheck_one(const std::function<Tensor(const TensorList&)>& function,
                              const TensorList& inputs, const GradcheckOptions& options) {
  return gradcheck([&](const TensorList& in) { return TensorList{function(in)}; }, inputs, options);
}

Tensor random_leaf(const Shape& shape, unsigned seed, double low, double high) {
  std::mt19937 engine(seed);
  const Tensor t = random_tensor(shape, engine, low, high);
  set_requires_grad(t, true);
  return t;
}

}  // namespace eg::testing
