#pragma once

// The gradient of a normalization composed of ops on the input, which can be differentiated again.

#include <array>

#include "autograd/graph/node.h"
#include "tensor/tensor.h"

namespace eg {

/// Which of the gradients of input, weight and bias are required.
using NormNeeds = std::array<bool, 3>;

/// What was normalized, and how.
struct Normalization {
  /// The number of elements that share a mean.
  double count;
  double eps;
  /// False for RMS norm.
  bool is_centered;
  /// The shapes of the statistics and of the parameters, which both broadcast to the input's.
  Shape statistics_shape;
  Shape parameters_shape;
  Tensor input;
  /// Of `parameters_shape`; undefined when there is none.
  Tensor weight;
};

/// The gradients of input, weight and bias from that of the result.
GradList norm_gradients(const Normalization& norm, const Tensor& grad, const NormNeeds& needs);

}  // namespace eg
