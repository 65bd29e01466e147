#include "support/forward_check.h"

#include <cmath>

#include "autograd/autograd.h"
#include "autograd/forward_ad.h"
#include "autograd/grad_mode.h"
#include "dispatch/elementwise.h"
#include "formulas/all.h"
#include "support/tensors.h"

namespace eg::testing {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

// Returns the sum of tensors[i] * weights[i] over the i for which both are defined; undefined if
// there are none.
Tensor dot(const TensorList& tensors, const TensorList& weights) {
  Tensor total;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined() || !weights[i].defined()) continue;
    const Tensor term = sum(call<op::Mul>(tensors[i], weights[i]));
    total = total.defined() ? call<op::Add>(total, term) : term;
  }
  return total;
}

double number(const Tensor& t) { return t.defined() ? value(t) : 0; }

AssertionResult close(double actual, double expected, const char* what) {
  if (std::abs(actual - expected) <= 1e-9 * (1 + std::abs(expected))) return AssertionSuccess();
  return AssertionFailure() << what << " is " << actual << ", by reverse mode " << expected;
}

AssertionResult close(const TensorList& actual, const TensorList& expected, const char* what) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::size_t size = expected[i].defined() ? values(expected[i]).size()
                             : actual[i].defined() ? values(actual[i]).size()
                                                   : 0;
    const std::vector<double> zeros(size);
    const std::vector<double> a = actual[i].defined() ? values(actual[i]) : zeros;
    const std::vector<double> b = expected[i].defined() ? values(expected[i]) : zeros;
    for (std::size_t j = 0; j < size; ++j) {
      const AssertionResult result = close(a[j], b[j], what);
      if (!result) return AssertionResult(result) << " (input " << i << ", element " << j << ')';
    }
  }
  return AssertionSuccess();
}

}  // namespace

AssertionResult forward_check(const Function& of_complex, const TensorList& complex_inputs) {
  const auto [function, inputs] = RealForm(of_complex, complex_inputs);
  TensorList leaves;
  TensorList directions;
  for (const Tensor& input : inputs) {
    if (!requires_grad(input)) continue;
    directions.push_back(detach(random_leaf(input.shape(), 11 + directions.size())));
    leaves.push_back(input);
  }
  const TensorList outputs = function(inputs);
  TensorList weights;
  for (const Tensor& output : outputs) {
    const bool counts = requires_grad(output) && output.dtype() == DType::kFloat64;
    weights.push_back(counts ? detach(random_leaf(output.shape(), 31 + weights.size())) : Tensor());
  }
  if (!dot(outputs, weights).defined()) return AssertionSuccess();
  const GradOptions plain{{}, /*allow_unused=*/true};
  const GradOptions create_graph{{.create_graph = true}, /*allow_unused=*/true};

  const TensorList gradients = grad({dot(outputs, weights)}, leaves, {}, create_graph);
  const Tensor along = dot(gradients, directions);
  const double first = number(along);
  TensorList second(leaves.size());
  if (along.defined() && requires_grad(along)) second = grad({along}, leaves, {}, plain);

  const DualLevelGuard level;
  const auto dual_result = [&] {
    TensorList duals;
    std::size_t next = 0;
    for (const Tensor& input : inputs) {
      duals.push_back(requires_grad(input) ? make_dual(input, directions[next++]) : input);
    }
    return dot(function(duals), weights);
  };
  {
    const NoGradGuard no_grad;
    const AssertionResult result =
        close(number(tangent(dual_result())), first, "the tangent under no_grad");
    if (!result) return result;
  }
  const Tensor derivative = tangent(dual_result());
  AssertionResult result = close(number(derivative), first, "the tangent");
  if (!result) return result;
  if (derivative.defined() && requires_grad(derivative)) {
    result = close(grad({derivative}, leaves, {}, plain), second, "reverse over forward");
    if (!result) return result;
  }
  TensorList tangents;
  for (const Tensor& gradient : grad({dual_result()}, leaves, {}, plain)) {
    tangents.push_back(tangent(gradient));
  }
  return close(tangents, second, "forward over reverse");
}

}  // namespace eg::testing
