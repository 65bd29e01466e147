#pragma once

// The list of all elementwise ops, from which everything else about them is derived.

#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/exponential.h"

namespace eg::op {

using ElementwiseOps = Concat<ArithmeticOps, ExponentialOps, ActivationOps>;

}  // namespace eg::op
