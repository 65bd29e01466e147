#pragma once

// Copies whose source is transposed relative to the target: elements that are adjacent in one are
// far apart in the other. Copied one by one, every element would cost a cache line.

#include <optional>

#include "backend/cpu/elementwise/strided.h"

namespace eg::cpu {

/// Returns the dimension, other than the innermost one, along which the second operand's elements
/// are adjacent, if copy_transposed() can be used for a copy to the first operand.
std::optional<std::size_t> transposed_dim(const Loop& loop);

/// Copies all elements of the loop from its second operand to its first.
void copy_transposed(const Loop& loop, std::size_t dim);

}  // namespace eg::cpu
