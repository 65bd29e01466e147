#pragma once

// Shapes, strides and the arithmetic on them, independent of tensors. Strides and offsets count
// elements.
//
// Sizes come from the user, so check_shape() validates the shape of every new tensor and
// view_fits() the geometry of every view. After that nothing here can overflow: any product of the
// nonzero sizes of a shape is at most kMaxElements. Formulas over numbers that are not validated
// sizes (padding, strides, repeats) use CheckedInt.

#include <cstdint>
#include <span>
#include <string_view>

#include "base/checked_int.h"
#include "base/small_vector.h"

namespace eg {

using Shape = SmallVector<std::int64_t, 5>;
using Strides = Shape;
using Dims = Shape;

/// The maximum number of dimensions of a tensor.
inline constexpr std::size_t kMaxDims = 64;
/// The maximum number of elements of a shape, including those repeated by a broadcast view: 2^53,
/// up to which JavaScript numbers count exactly.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 53;

/// Throws unless a tensor may have this shape: InvalidArgument for more than kMaxDims dimensions or
/// a negative size, OutOfMemory when the product of the nonzero sizes exceeds kMaxElements.
void check_shape(std::span<const std::int64_t> shape);

/// Returns true when every element of a view is within `capacity` elements of storage. For a view
/// without elements it only checks that its geometry cannot overflow.
bool view_fits(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
               std::int64_t offset, std::int64_t capacity);

/// The number of elements; an empty shape is a scalar and has one.
std::int64_t numel(std::span<const std::int64_t> shape);

/// Row-major strides of a shape.
Strides contiguous_strides(std::span<const std::int64_t> shape);

/// Returns true when the strides are row-major; strides of dimensions of size one and of empty
/// tensors are ignored.
bool is_contiguous(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);

/// Returns the number of storage elements between the first and the last element, inclusive; 0 when
/// the shape is empty.
std::int64_t storage_extent(std::span<const std::int64_t> shape,
                            std::span<const std::int64_t> strides);

/// Returns true when every element certainly has its own address; may return false for some layouts
/// without overlap.
bool is_injective(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);

/// Returns true when every element has its own address and together they fill a contiguous block.
bool is_non_overlapping_and_dense(std::span<const std::int64_t> shape,
                                  std::span<const std::int64_t> strides);

/// Returns the shape two operands broadcast to; throws ShapeMismatch with `op` and both shapes.
Shape broadcast_shapes(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                       std::string_view op);

/// True when `from` broadcasts to exactly `to`.
bool is_expandable_to(std::span<const std::int64_t> from, std::span<const std::int64_t> to);

/// Strides that read `shape` broadcast to `target`: 0 along repeated dimensions.
Strides broadcast_strides(std::span<const std::int64_t> shape,
                          std::span<const std::int64_t> strides,
                          std::span<const std::int64_t> target);

/// Converts a dimension counted from the end (-1 is the last) into one from the front; throws
/// IndexOutOfRange.
std::int64_t wrap_dim(std::int64_t dim, std::int64_t ndim, std::string_view op);

/// wrap_dim for a list; throws InvalidArgument when a dimension occurs twice.
Dims wrap_dims(std::span<const std::int64_t> dims, std::int64_t ndim, std::string_view op);

/// Replaces at most one -1 in `requested` so that the element counts are equal; throws
/// ShapeMismatch.
Shape infer_size(std::span<const std::int64_t> requested, std::int64_t count, std::string_view op);

/// Computes strides that view a strided block as `target` without a copy; returns false when there
/// are none.
bool view_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                  std::span<const std::int64_t> target, Strides& result);

}  // namespace eg
