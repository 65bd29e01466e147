#pragma once

// Shapes, strides and the arithmetic on them: no tensors. Strides and offsets count elements.
//
// Sizes come from outside, so the shape of every tensor passes check_shape() when the tensor is
// made, and the geometry of every view view_fits(). From then on nothing here can overflow: any
// product of sizes of a shape, sizes of zero left out, is at most kMaxElements. Where a formula
// meets numbers that are no sizes yet (padding, strides, repeats) it is written with CheckedInt.

#include <cstdint>
#include <span>
#include <string_view>

#include "base/checked_int.h"
#include "base/small_vector.h"

namespace eg {

using Shape = SmallVector<std::int64_t, 5>;
using Strides = Shape;
using Dims = Shape;

/// The most dimensions a tensor has.
inline constexpr std::size_t kMaxDims = 64;
/// The most elements a shape may stand for, views that repeat themselves included: what a
/// JavaScript number counts exactly.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 53;

/// Throws unless a tensor may have this shape: InvalidArgument for more than kMaxDims dimensions or
/// a negative size, OutOfMemory for more than kMaxElements elements, empty dimensions not counted.
void check_shape(std::span<const std::int64_t> shape);

/// True when every element of a view lies within `capacity` elements of storage. Of a view without
/// elements, only that its geometry can be computed with.
bool view_fits(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
               std::int64_t offset, std::int64_t capacity);

/// The number of elements; an empty shape is a scalar and has one.
std::int64_t numel(std::span<const std::int64_t> shape);

/// Row-major strides of a shape.
Strides contiguous_strides(std::span<const std::int64_t> shape);

/// True when the strides are row-major; dimensions of size one and empty tensors do not count.
bool is_contiguous(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);

/// Elements of storage a geometry spans, from its first element to its last; 0 when it is empty.
std::int64_t storage_extent(std::span<const std::int64_t> shape,
                            std::span<const std::int64_t> strides);

/// True when every element surely has an address of its own.
bool is_injective(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);

/// True when every element has an address of its own and together they fill a block.
bool is_non_overlapping_and_dense(std::span<const std::int64_t> shape,
                                  std::span<const std::int64_t> strides);

/// The common shape of two operands, or ShapeMismatch naming `op` and both shapes.
Shape broadcast_shapes(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                       std::string_view op);

/// True when `from` broadcasts to exactly `to`.
bool is_expandable_to(std::span<const std::int64_t> from, std::span<const std::int64_t> to);

/// Strides that read `shape` as `target` by repeating: 0 along broadcast dimensions.
Strides broadcast_strides(std::span<const std::int64_t> shape,
                          std::span<const std::int64_t> strides,
                          std::span<const std::int64_t> target);

/// Turns a dimension counted from the end (-1) into one from the front, or IndexOutOfRange.
std::int64_t wrap_dim(std::int64_t dim, std::int64_t ndim, std::string_view op);

/// wrap_dim for a list; a dimension named twice is an InvalidArgument.
Dims wrap_dims(std::span<const std::int64_t> dims, std::int64_t ndim, std::string_view op);

/// Replaces one -1 in `requested` by what makes the element counts equal, or ShapeMismatch.
Shape infer_size(std::span<const std::int64_t> requested, std::int64_t count, std::string_view op);

/// Strides that show a strided block as `target` without a copy, if there are any.
bool view_strides(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides,
                  std::span<const std::int64_t> target, Strides& result);

}  // namespace eg
