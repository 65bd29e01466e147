// compile: vectors

// Compiles the kernels of formulas/trigonometric.h.

#include "dispatch/elementwise_info.h"
#include "formulas/trigonometric.h"

namespace eg {

extern const auto kTrigonometricKernels = instantiate(op::TrigonometricOps{});

}  // namespace eg
