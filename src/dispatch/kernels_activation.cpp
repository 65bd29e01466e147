// Compiles the kernels of ops/activation.h.

#include "dispatch/elementwise_info.h"
#include "ops/activation.h"

namespace eg {

extern const auto kActivationKernels = instantiate(op::ActivationOps{});

}  // namespace eg
