#pragma once

#include "tensor/tensor.h"

namespace eg {

/// Turns a view into an independent tensor if nothing else refers to its base. When an op returns a
/// part of its own temporary, that is not a view to the caller, who may use it where views are
/// refused.
void own_result(const Tensor& result);

}  // namespace eg
