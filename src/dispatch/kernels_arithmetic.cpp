// Compiles the kernels of ops/arithmetic.h.

#include "dispatch/elementwise_info.h"
#include "ops/arithmetic.h"

namespace eg {

extern const auto kArithmeticKernels = instantiate(op::ArithmeticOps{});

}  // namespace eg
