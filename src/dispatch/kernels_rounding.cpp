// Compiles the kernels of ops/rounding.h.

#include "dispatch/elementwise_info.h"
#include "ops/rounding.h"

namespace eg {

extern const auto kRoundingKernels = instantiate(op::RoundingOps{});

}  // namespace eg
