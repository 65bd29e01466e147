// Compiles the kernels of ops/exponential.h.

#include "dispatch/elementwise_info.h"
#include "ops/exponential.h"

namespace eg {

extern const auto kExponentialKernels = instantiate(op::ExponentialOps{});

}  // namespace eg
