#pragma once

// Iterates over several operands of the same shape, each with its own strides.
//
// Dimensions that are contiguous with each other in all operands are merged, and the dimension with
// the smallest steps of the first operand becomes the innermost one, so most loops end up
// one-dimensional.

#include <array>
#include <cstdint>
#include <span>

#include "base/dtype.h"
#include "base/shape.h"
#include "kernels/operand.h"

namespace eg::cpu {

using kernel::kMaxOperands;
using kernel::Operand;

/// The iteration space shared by some operands, after merging.
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
/// True when the operand has the same element at every position of the loop.
bool is_constant(const Operand& operand);

/// Copies elements [begin, begin + count), in loop order, from `source` into packed memory and
/// converts them to `dtype`.
void gather(const Loop& loop, const Operand& source, std::int64_t begin, std::int64_t count,
            void* packed, DType dtype);
/// The inverse of gather(): copies packed memory of `dtype` into `destination` and converts it to
/// its dtype.
void scatter(const Loop& loop, const Operand& destination, std::int64_t begin, std::int64_t count,
             const void* packed, DType dtype);

}  // namespace eg::cpu
