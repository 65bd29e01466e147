// compile: vectors

// Compiles the kernels of formulas/selection.h.

#include "dispatch/elementwise_info.h"
#include "formulas/selection.h"

namespace eg {

extern const auto kSelectionKernels = instantiate(op::SelectionOps{});

}  // namespace eg
