// compile: vectors

// Compiles the kernels of formulas/comparison.h.

#include "dispatch/elementwise_info.h"
#include "formulas/comparison.h"

namespace eg {

extern const auto kComparisonKernels = instantiate(op::ComparisonOps{});

}  // namespace eg
