#pragma once

#include "kernels/rows.h"
#include "tensor/tensor.h"

namespace eg {

/// A packed tensor as kernels see it that work along a dimension; `dim` is wrapped.
kernel::Rows rows_along(const Tensor& t, std::int64_t dim);

}  // namespace eg
