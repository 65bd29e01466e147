// compile: vectors

// Compiles the kernels of formulas/loss.h.

#include "dispatch/elementwise_info.h"
#include "formulas/loss.h"

namespace eg {

extern const auto kLossKernels = instantiate(op::LossFormulas{});

}  // namespace eg
