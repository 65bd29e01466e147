// Compiles the kernels of ops/loss.h.

#include "dispatch/elementwise_info.h"
#include "ops/loss.h"

namespace eg {

extern const auto kLossKernels = instantiate(op::LossFormulas{});

}  // namespace eg
