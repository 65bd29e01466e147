#pragma once

// How the losses of elements become one number.

#include "dispatch/function_op.h"

namespace eg {

/// The losses themselves, their mean or their sum.
Tensor reduce_losses(const Tensor& losses, Reduction reduction);

}  // namespace eg
