// compile: vectors

// Compiles the kernels of formulas/special.h.

#include "dispatch/elementwise_info.h"
#include "formulas/special.h"

namespace eg {

extern const auto kSpecialKernels = instantiate(op::SpecialOps{});

}  // namespace eg
