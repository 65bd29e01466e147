// compile: vectors

// Compiles the kernels of formulas/exponential.h.

#include "dispatch/elementwise_info.h"
#include "formulas/exponential.h"

namespace eg {

extern const auto kExponentialKernels = instantiate(op::ExponentialOps{});

}  // namespace eg
