#pragma once

// The short way for what most ops are: an elementwise formula over few elements that lie packed, in
// the formula's own dtype. A call of kernel::Elementwise would do the same, but describing the
// operands takes longer than computing so little.

#include <cstdint>
#include <span>

#include "backend/cpu/elementwise/kernel.h"
#include "kernels/elementwise.h"
#include "runtime/memory_view.h"

namespace eg::cpu {

/// What a formula computes at a time.
inline constexpr std::int64_t kPackBytes = 16;

/// Memory of the CPU: `count` elements, or one for all of them.
struct PackedOperand {
  MemoryView memory;
  bool is_constant = false;
};

/// Computes at once, or returns false when that needs more than one pass over packed memory. The
/// first operand is written.
bool run_packed(const kernel::Formula& formula, DType compute, DType result, std::int64_t count,
                std::span<const PackedOperand> operands);

/// Runs a kernel over `count` elements of `item` bytes whose places are in `args`; those that stay
/// on one pack have a step of 0, and only the packs are set here.
void run_row(Kernel kernel, KernelArgs args, std::size_t inputs, std::int64_t count,
             std::int64_t item, std::int64_t out_item);

}  // namespace eg::cpu
