#pragma once

#include "backend/cpu/reduce/rows.h"
#include "tensor/tensor.h"

namespace eg {

/// A packed tensor as the kernels of softmax and of class losses see it; `dim` is wrapped.
cpu::Rows rows_along(const Tensor& t, std::int64_t dim);

}  // namespace eg
