#pragma once

// The fast path for the most common case: an elementwise formula over few elements that are packed
// and of the formula's own dtype. kernel::Elementwise would compute the same result, but describing
// the operands to it takes longer than the computation.

#include <cstdint>
#include <span>

#include "backend/cpu/elementwise/kernel.h"
#include "kernels/elementwise.h"
#include "runtime/memory_view.h"

namespace eg::cpu {

/// Bytes that a formula processes at a time.
inline constexpr std::int64_t kPackBytes = 16;

/// CPU memory with `count` elements, or with a single one if `is_constant`.
struct PackedOperand {
  MemoryView memory;
  bool is_constant = false;
};

/// Computes the result immediately, or returns false when that takes more than one pass over packed
/// memory. The first operand is the output.
bool run_packed(const kernel::Formula& formula, DType compute, DType result, std::int64_t count,
                std::span<const PackedOperand> operands);

/// Runs a kernel over `count` elements of `item` bytes. `args` holds the operands' addresses, and a
/// step of 0 for constants; `packs` is set here.
void run_row(kernel::FormulaLoop loop, KernelArgs args, std::size_t inputs, std::int64_t count,
             std::int64_t item, std::int64_t out_item);

}  // namespace eg::cpu
