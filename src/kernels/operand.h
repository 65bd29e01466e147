#pragma once

#include <cstddef>

#include "base/shape.h"
#include "base/small_vector.h"
#include "kernels/memory.h"

namespace eg::kernel {

/// Memory indexed by the shape of a kernel. Strides count elements.
struct Operand {
  MemoryView memory;
  Strides strides;
};

/// The output, plus everything that the gradient of a ternary op may read: the incoming gradient,
/// three inputs and the result.
inline constexpr std::size_t kMaxOperands = 6;

/// Operands of the same shape; the first one is written.
using Operands = SmallVector<Operand, kMaxOperands>;

}  // namespace eg::kernel
