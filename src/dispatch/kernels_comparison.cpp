// Compiles the kernels of ops/comparison.h.

#include "dispatch/elementwise_info.h"
#include "ops/comparison.h"

namespace eg {

extern const auto kComparisonKernels = instantiate(op::ComparisonOps{});

}  // namespace eg
