// compile: vectors

// Compiles the kernels of formulas/activation.h.

#include "dispatch/elementwise_info.h"
#include "formulas/activation.h"

namespace eg {

extern const auto kActivationKernels = instantiate(Concat<op::ActivationOps, op::BranchFormulas>{});

}  // namespace eg
