// Compiles the kernels of ops/special.h.

#include "dispatch/elementwise_info.h"
#include "ops/special.h"

namespace eg {

extern const auto kSpecialKernels = instantiate(op::SpecialOps{});

}  // namespace eg
