// compile: vectors

// Compiles the kernels of formulas/integer.h.

#include "dispatch/elementwise_info.h"
#include "formulas/integer.h"

namespace eg {

extern const auto kIntegerKernels = instantiate(op::IntegerOps{});

}  // namespace eg
