#pragma once

#include "tensor/tensor.h"

namespace eg {

/// Makes a view whose base nobody else has a tensor of its own: what an op has cut out of something that it made for itself
/// is no view to the caller, who may do with it what is refused on views.
void own_result(const Tensor& result);

}  // namespace eg
