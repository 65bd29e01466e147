#pragma once

// Compares gradients with central differences, in float64.
//
// The function's outputs are weighted with fixed random numbers, so that all of its derivatives
// count. The gradient is computed twice, as in a plain backward call (fused kernels) and as with
// create_graph (the recorded formula). The second-order check differentiates the weighted first
// gradient.

#include <functional>

#include <gtest/gtest.h>

#include "tensor/tensor.h"

namespace eg::testing {

using Function = std::function<TensorList(const TensorList&)>;

struct GradcheckOptions {
  double step = 1e-6;
  double tolerance = 1e-5;  ///< absolute, and relative to the value
  bool second_order = true;
};

/// Turns a function of complex numbers into one of their real and imaginary parts. Real inputs are
/// unchanged.
struct RealForm {
  RealForm(const Function& of_complex, const TensorList& complex_inputs);
  Function function;
  TensorList inputs;
};

/// Checks the derivatives of `function` with respect to the inputs that require grad, which must be
/// float64 or complex128. Their elements are changed and restored.
::testing::AssertionResult gradcheck(const Function& function, const TensorList& inputs,
                                     const GradcheckOptions& options = {});

/// gradcheck for a function with one result: EXPECT_TRUE(gradcheck_one([](auto& in) { ... }, {x})).
::testing::AssertionResult gradcheck_one(const std::function<Tensor(const TensorList&)>& function,
                                         const TensorList& inputs,
                                         const GradcheckOptions& options = {});

/// A float64 leaf with values in [low, high) that depend only on `seed`.
Tensor random_leaf(const Shape& shape, unsigned seed, double low = -2, double high = 2);

}  // namespace eg::testing
