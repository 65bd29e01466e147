// compile: vectors

// Compiles the kernels of formulas/arithmetic.h.

#include "dispatch/elementwise_info.h"
#include "formulas/arithmetic.h"

namespace eg {

extern const auto kArithmeticKernels =
    instantiate(Concat<op::ArithmeticOps, op::QuotientFormulas>{});

}  // namespace eg
