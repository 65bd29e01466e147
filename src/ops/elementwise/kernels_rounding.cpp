// compile: vectors

// Compiles the kernels of formulas/rounding.h.

#include "dispatch/elementwise_info.h"
#include "formulas/rounding.h"

namespace eg {

extern const auto kRoundingKernels = instantiate(op::RoundingOps{});

}  // namespace eg
