#pragma once

// Forward-mode derivatives against those of reverse mode.

#include <gtest/gtest.h>

#include "support/gradcheck.h"
#include "tensor/tensor.h"

namespace eg::testing {

/// Checks, along random directions, that the tangents of `function` are what its gradients say:
/// with and without recording, and to second order, forward over reverse and reverse over forward
/// against reverse over reverse. Inputs that require grad must be float64.
::testing::AssertionResult forward_check(const Function& function, const TensorList& inputs);

}  // namespace eg::testing
