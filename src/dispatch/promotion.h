#pragma once

#include <span>

#include "tensor/tensor.h"

namespace eg {

/// The common dtype of operands. Tensors with dimensions outrank 0-dim tensors, which outrank plain
/// numbers; a lower rank changes the result only by being of a higher category (bool < integer <
/// float < complex).
DType promote(std::span<const Tensor> operands);

/// True when a result may be written into a tensor of dtype `to` in place: never to a lower
/// category.
bool can_cast(DType from, DType to);

}  // namespace eg
