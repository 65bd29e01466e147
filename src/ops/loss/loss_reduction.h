#pragma once

// Reduces the losses of elements to one number.

#include "dispatch/function_op.h"

namespace eg {

/// The losses themselves, their mean or their sum.
Tensor reduce_losses(const Tensor& losses, Reduction reduction);

}  // namespace eg
