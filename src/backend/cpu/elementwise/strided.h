#pragma once

// Walking several operands of one shape, each with strides of its own.
//
// Dimensions along which all operands step in the same rhythm are merged, and the one with the
// smallest steps of the first operand goes innermost, so that most loops end up one-dimensional.

#include <array>
#include <cstdint>
#include <span>

#include "base/dtype.h"
#include "base/shape.h"
#include "kernels/operand.h"

namespace eg::cpu {

using kernel::kMaxOperands;
using kernel::Operand;

/// The common iteration space of some operands, after merging.
struct Loop {
  Shape sizes;  ///< outermost first; never empty
  std::span<Operand> operands;

  std::int64_t numel() const { return eg::numel(sizes); }
};

/// Merges and orders the dimensions of `shape`, rewriting the strides of the operands; the first
/// operand (the output) decides the order.
Loop make_loop(const Shape& shape, std::span<Operand> operands);

/// True when the operand steps through memory one element at a time, in the order of the loop.
bool is_linear(const Loop& loop, const Operand& operand);
/// True when every step stays on the same element.
bool is_constant(const Operand& operand);

/// Copies elements [begin, begin + count) of the loop's order from `source` into packed memory,
/// converted to `dtype`.
void gather(const Loop& loop, const Operand& source, std::int64_t begin, std::int64_t count,
            void* packed, DType dtype);
/// The other way round: packed memory of `dtype` into `destination`, converted to its dtype.
void scatter(const Loop& loop, const Operand& destination, std::int64_t begin, std::int64_t count,
             const void* packed, DType dtype);

}  // namespace eg::cpu
