#pragma once

// Compares forward-mode derivatives with those of reverse mode.

#include <gtest/gtest.h>

#include "support/gradcheck.h"
#include "tensor/tensor.h"

namespace eg::testing {

/// Checks, along random directions, that the tangents of `function` agree with its gradients: with
/// and without recording, and to second order, forward over reverse and reverse over forward
/// compared with reverse over reverse. Inputs that require grad must be float64.
::testing::AssertionResult forward_check(const Function& function, const TensorList& inputs);

}  // namespace eg::testing
