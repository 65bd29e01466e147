#pragma once

// Shared by the indexing ops: conversion and checks of index tensors, and the memory layout of the
// slices and elements that they select.

#include <optional>
#include <span>
#include <string_view>

#include "dispatch/elementwise.h"
#include "kernels/index.h"
#include "tensor/tensor.h"

namespace eg {

/// The index as a contiguous int64 tensor of its shape; DtypeMismatch unless it is int64 or int32.
Tensor to_index(const Tensor& index, std::string_view op);

/// A vector of these indices.
Tensor index_tensor(std::span<const std::int64_t> values, Device device);

/// The values of a tensor that to_index returned, which must be on the host.
std::span<const std::int64_t> index_values(const Tensor& index);

/// The first value of a tensor that to_index returned that is not in [0, size), if there is one.
std::optional<std::int64_t> find_out_of_range(const Tensor& index, std::int64_t size);

/// Like to_index, but throws IndexOutOfRange unless every value is in [0, size), where `size` is
/// the size of dimension `dim`. A device that reports this later returns a copy, from which the
/// results must be computed.
Tensor checked_index(const Tensor& index, std::int64_t size, std::int64_t dim, std::string_view op);

/// Like checked_index, for a vector or a single index.
Tensor checked_index_vector(const Tensor& index, std::int64_t size, std::int64_t dim,
                            std::string_view op);

/// A number or 0-dim tensor with the dtype and device of `t`; gradients flow to it.
Tensor element_for(const Tensor& t, const Operand& number);

/// The positions of the true elements of a mask, in row-major order: a vector of int64.
Tensor true_positions(const Tensor& mask);

/// The shape, or [1] for that of a 0-dim tensor.
Shape at_least_1d(const Shape& shape);

/// The slices along `dim` of a contiguous tensor of this shape that `index` selects.
kernel::IndexedRows rows_along(const Shape& shape, std::int64_t dim, const Tensor& index);

/// The size of a dimension of `t`; 1 for a 0-dim tensor.
std::int64_t size_along(const Tensor& t, std::int64_t dim);

/// Returns the index, or one that fits every input and source if it has no elements.
Tensor index_fitting(const Tensor& index, const Tensor& input);

/// The part of the source that scatter reads, which is as large as the index. Throws if input,
/// index and source do not match.
Tensor fit_source(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src,
                  std::string_view op);

/// Checks the arguments of index_add and similar ops; returns the checked index.
Tensor check_sources(const Tensor& input, std::int64_t dim, const Tensor& index,
                     const Tensor& source, std::string_view op);

/// The elements that `index` selects, one per index, in a tensor with these strides.
kernel::IndexedElements elements_along(const Strides& strides, std::int64_t dim,
                                       const Tensor& index);

}  // namespace eg
