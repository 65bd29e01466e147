#pragma once

// Copies whose source lies across the target: the elements that are neighbours in one are far apart
// in the other. Element by element every one of them costs a cache line.

#include <optional>

#include "backend/cpu/elementwise/strided.h"

namespace eg::cpu {

/// The dimension of the loop, besides the innermost, along which the second operand's elements are
/// neighbours, where copy_transposed() serves a copy to the first.
std::optional<std::size_t> transposed_dim(const Loop& loop);

/// Copies the whole loop from its second operand to its first.
void copy_transposed(const Loop& loop, std::size_t dim);

}  // namespace eg::cpu
