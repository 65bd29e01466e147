#pragma once

// Offsets of elements in a Loop (elementwise/strided.h), and the contiguous runs it consists of.

#include <algorithm>
#include <cstdint>

#include "backend/cpu/elementwise/strided.h"

namespace eg::cpu {

/// A shape split into the dimensions that a reduction folds and the others, with an operand's
/// strides.
struct SplitShape {
  Shape kept;
  Strides kept_strides;
  Shape reduced;
  Strides reduced_strides;
};

/// Splits a shape; `dims` must be sorted.
inline SplitShape split_shape(const Shape& shape, const Dims& dims, const Strides& strides) {
  SplitShape split;
  for (std::size_t d = 0, next = 0; d < shape.size(); ++d) {
    const bool is_reduced = next < dims.size() && dims[next] == static_cast<std::int64_t>(d);
    if (is_reduced) ++next;
    (is_reduced ? split.reduced : split.kept).push_back(shape[d]);
    (is_reduced ? split.reduced_strides : split.kept_strides).push_back(strides[d]);
  }
  return split;
}

/// Returns the offset of element `index`, counted over the first `dims` dimensions of the loop.
inline std::int64_t offset_at(const Loop& loop, const Operand& operand, std::int64_t index,
                              std::size_t dims) {
  std::int64_t offset = 0;
  for (std::size_t d = dims; d-- > 1;) {
    offset += index % loop.sizes[d] * operand.strides[d];
    index /= loop.sizes[d];
  }
  return dims == 0 ? offset : offset + index * operand.strides[0];
}

/// Calls visit(offset, length) for the parts of innermost rows that make up elements [first, first
/// + count), in loop order.
template <class Visit>
void for_each_run(const Loop& loop, const Operand& operand, std::int64_t first, std::int64_t count,
                  Visit&& visit) {
  const std::size_t inner = loop.sizes.size() - 1;
  const std::int64_t row_length = loop.sizes[inner];
  for (const std::int64_t end = first + count; first < end;) {
    const std::int64_t column = first % row_length;
    const std::int64_t length = std::min(row_length - column, end - first);
    visit(offset_at(loop, operand, first / row_length, inner) + column * operand.strides[inner],
          length);
    first += length;
  }
}

}  // namespace eg::cpu
