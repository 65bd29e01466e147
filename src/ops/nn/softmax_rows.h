#pragma once

#include "kernels/rows.h"
#include "tensor/tensor.h"

namespace eg {

/// The layout of a packed tensor for kernels that work along a dimension; `dim` is not negative.
kernel::Rows rows_along(const Tensor& t, std::int64_t dim);

}  // namespace eg
