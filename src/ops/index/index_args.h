#pragma once

// What the indexing ops share: index tensors as checked lists of int64, and where a pick along a
// dimension lies in memory.

#include <optional>
#include <span>
#include <string_view>

#include "dispatch/elementwise.h"
#include "kernels/index.h"
#include "tensor/tensor.h"

namespace eg {

/// The index as a contiguous int64 tensor of its shape; DtypeMismatch unless it is int64 or int32.
Tensor to_index(const Tensor& index, std::string_view op);

/// A vector of indices.
Tensor index_tensor(std::span<const std::int64_t> values, Device device);

/// The values of a tensor from to_index that is on the host.
std::span<const std::int64_t> index_values(const Tensor& index);

/// The first value of a tensor from to_index that is not in [0, size), if there is one.
std::optional<std::int64_t> find_out_of_range(const Tensor& index, std::int64_t size);

/// to_index, with every value in [0, size), the size of dimension `dim`; else IndexOutOfRange.
Tensor checked_index(const Tensor& index, std::int64_t size, std::int64_t dim, std::string_view op);

/// checked_index for a list of slices: a vector, or a single number.
Tensor checked_index_vector(const Tensor& index, std::int64_t size, std::int64_t dim,
                            std::string_view op);

/// A number as an element for places of `t`: of its dtype, on its device. Gradients reach it.
Tensor element_for(const Tensor& t, const Operand& number);

/// The positions of the true elements of a mask, in row-major order: a vector of int64.
Tensor true_places(const Tensor& mask);

/// The shape, where a 0-dim tensor counts as a vector of one element.
Shape at_least_1d(const Shape& shape);

/// A contiguous tensor of this shape as slices along `dim`, picked by `index`.
kernel::IndexedRows rows_along(const Shape& shape, std::int64_t dim, const Tensor& index);

/// The number of places along a dimension of `t`.
std::int64_t size_along(const Tensor& t, std::int64_t dim);

/// The part of the source that scatter reads: as large as the index. Throws where one of the three
/// does not fit the others.
Tensor fit_source(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src,
                  std::string_view op);

/// What index_add and its like ask of their arguments; gives the checked index.
Tensor check_sources(const Tensor& input, std::int64_t dim, const Tensor& index,
                     const Tensor& source, std::string_view op);

/// An index per element into a tensor of these strides.
kernel::IndexedElements elements_along(const Strides& strides, std::int64_t dim,
                                       const Tensor& index);

}  // namespace eg
