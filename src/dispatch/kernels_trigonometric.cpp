// Compiles the kernels of ops/trigonometric.h.

#include "dispatch/elementwise_info.h"
#include "ops/trigonometric.h"

namespace eg {

extern const auto kTrigonometricKernels = instantiate(op::TrigonometricOps{});

}  // namespace eg
