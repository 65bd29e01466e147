#pragma once

// Allocates, fills and copies tensors for other code, without recording.

#include <string_view>

#include "base/scalar.h"
#include "tensor/tensor.h"

namespace eg {

/// A 0-dim tensor that counts as a plain number in promotion.
Tensor scalar_tensor(Scalar value);
/// The value of a plain number that is real.
Scalar scalar_of(const Tensor& number);
/// Converts a plain number to an element of `dtype`; throws when it does not fit. Returns any other
/// tensor unchanged.
Tensor as_element(const Tensor& t, DType dtype);
/// check_factor() for an integer dtype.
void check_integer_factor(std::string_view op, std::string_view name, Scalar factor, DType dtype);
/// Throws unless `factor`, the argument `name` of `op`, can multiply tensors of `dtype`: a factor
/// of integers is an integer that fits their dtype.
inline void check_factor(std::string_view op, std::string_view name, Scalar factor, DType dtype) {
  if (is_integral(dtype)) check_integer_factor(op, name, factor, dtype);
}
/// A tensor filled with one value, which has to fit the dtype.
Tensor full(const Shape& shape, Scalar value, DType dtype, Device device = {});
/// An uninitialized tensor with the shape, dtype and device of `t`, and its strides when dense.
Tensor empty_like(const Tensor& t);
Tensor empty_with_layout_of(const Tensor& t, DType dtype);
Tensor full_like(const Tensor& t, Scalar value);
/// Sets every element of a fresh tensor that fills its storage; not recorded, no version change.
void fill_dense(const Tensor& t, Scalar value);
/// A row-major copy, not recorded.
Tensor contiguous_copy(const Tensor& t);
/// `t` itself when it is row-major (or undefined), else a row-major copy, as kernels for packed
/// memory require.
Tensor packed(const Tensor& t);
/// Writes the values of `source`, broadcast and converted, to `destination`, which may be on
/// another device; not recorded, no version change.
void copy_data(const Tensor& destination, const Tensor& source);

}  // namespace eg
