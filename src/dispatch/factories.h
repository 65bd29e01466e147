#pragma once

// Tensors from nothing: the allocations other code needs.

#include "base/scalar.h"
#include "tensor/tensor.h"

namespace eg {

/// A 0-dim tensor that stands for a plain number in promotion.
Tensor scalar_tensor(Scalar value);
/// A plain number as an element of `dtype`; throws when it does not fit. Any other tensor as it is.
Tensor as_element(const Tensor& t, DType dtype);
/// A tensor filled with one value, which has to fit the dtype.
Tensor full(const Shape& shape, Scalar value, DType dtype, Device device = {});
/// Uninitialised, with the shape, dtype and device of `t`, and its strides when it is dense.
Tensor empty_like(const Tensor& t);
Tensor empty_with_layout_of(const Tensor& t, DType dtype);
Tensor full_like(const Tensor& t, Scalar value);
/// Sets every element of a fresh tensor that fills its storage; not recorded, no version change.
void fill_dense(const Tensor& t, Scalar value);
/// A row-major copy, not recorded.
Tensor contiguous_copy(const Tensor& t);
/// `t` itself when it is row-major (or undefined), else such a copy: what kernels for packed memory
/// want.
Tensor packed(const Tensor& t);
/// Writes values, broadcast and converted to the dtype of `destination`, which may be on another
/// device; not recorded, no version change.
void copy_data(const Tensor& destination, const Tensor& source);

}  // namespace eg
