#pragma once

// Gradients of lookups that are sparse: only what was looked up.

#include "base/shape.h"
#include "tensor/tensor.h"

namespace eg {

/// The gradient of a table of this shape, from that of the rows that were looked up at `index`;
/// the row `skip` of the table gets none.
Tensor sparse_gradient_of_rows(const Tensor& rows, const Shape& table, const Tensor& index,
                               std::int64_t skip);

/// The gradient of gather().
Tensor sparse_gradient_of_elements(const Tensor& grad, const Shape& shape, std::int64_t dim,
                                   const Tensor& index);

}  // namespace eg
