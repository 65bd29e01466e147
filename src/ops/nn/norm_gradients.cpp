#include "ops/nn/norm_gradients.h"

#include "autograd/tensor_math.h"
#include "dispatch/var.h"

namespace eg {

GradList norm_gradients(const Normalization& norm, const Tensor& grad, const NormNeeds& needs) {
  const Var x = norm.input;
  const Var g = grad;
  const auto mean = [&](const Var& v) {
    return math::sum_to(v, norm.statistics_shape) / norm.count;
  };
  // The statistics are computed again from the input, because the gradient is also differentiated
  // through them.
  const Var centered = norm.is_centered ? x - mean(x) : x;
  const Var rstd = rsqrt(mean(centered * centered) + norm.eps);
  const Var normalized = centered * rstd;
  GradList grads(3);
  if (needs[0]) {
    const Var weighted = norm.weight.defined() ? g * norm.weight : g;
    const Var spread = weighted - normalized * mean(weighted * normalized);
    grads[0] = (norm.is_centered ? spread - mean(weighted) : spread) * rstd;
  }
  if (needs[1]) grads[1] = math::sum_to(g * normalized, norm.parameters_shape);
  if (needs[2]) grads[2] = math::sum_to(grad, norm.parameters_shape);
  return grads;
}

}  // namespace eg
