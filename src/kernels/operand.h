#pragma once

#include <cstddef>

#include "base/shape.h"
#include "base/small_vector.h"
#include "kernels/memory.h"

namespace eg::kernel {

/// Memory seen through the shape of a kernel. Strides count elements.
struct Operand {
  MemoryView memory;
  Strides strides;
};

/// An output, and what the gradient of a ternary op may read: a gradient, three inputs, the result.
inline constexpr std::size_t kMaxOperands = 6;

/// Operands of one shape; the first is written.
using Operands = SmallVector<Operand, kMaxOperands>;

}  // namespace eg::kernel
