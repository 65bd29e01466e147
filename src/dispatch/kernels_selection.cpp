// Compiles the kernels of ops/selection.h.

#include "dispatch/elementwise_info.h"
#include "ops/selection.h"

namespace eg {

extern const auto kSelectionKernels = instantiate(op::SelectionOps{});

}  // namespace eg
