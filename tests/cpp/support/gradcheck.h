#pragma once

// Gradients against central differences, in float64.
//
// The function's outputs are weighted with fixed random numbers, so that all of its derivatives
// count. The gradient is taken twice, as plain backward takes it (fused kernels) and as
// create_graph does (the recorded formula); the second order is the gradient of the weighted first
// one.

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

/// A function of complex numbers as one of their parts, which is what its derivatives mean. What is
/// real stays as it is.
struct RealForm {
  RealForm(const Function& of_complex, const TensorList& complex_inputs);
  Function function;
  TensorList inputs;
};

/// Checks the derivatives of `function` with respect to the inputs that require grad. Their
/// elements are changed and put back; everything that requires grad must be float64 or complex128.
::testing::AssertionResult gradcheck(const Function& function, const TensorList& inputs,
                                     const GradcheckOptions& options = {});

/// gradcheck for a function with one result: EXPECT_TRUE(gradcheck_one([](auto& in) { ... }, {x})).
::testing::AssertionResult gradcheck_one(const std::function<Tensor(const TensorList&)>& function,
                                         const TensorList& inputs,
                                         const GradcheckOptions& options = {});

/// A float64 leaf with values in [low, high) that depend on `seed` alone.
Tensor random_leaf(const Shape& shape, unsigned seed, double low = -2, double high = 2);

}  // namespace eg::testing
