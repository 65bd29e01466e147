// compile: engine

#include "backend/cpu/elementwise/strided.h"

#include <algorithm>
#include <cstdlib>

#include "backend/cpu/elementwise/convert.h"

namespace eg::cpu {
namespace {

// Calls visit(element offset of the row in `operand`, packed offset, row length) for the rows, or
// parts of rows, that make up elements [begin, begin + count).
template <class Visit>
void for_each_row(const Loop& loop, const Operand& operand, std::int64_t begin, std::int64_t count,
                  Visit&& visit) {
  const std::size_t inner = loop.sizes.size() - 1;
  Dims index(loop.sizes.size());
  std::int64_t rest = begin;
  std::int64_t offset = 0;
  for (std::size_t d = inner + 1; d-- > 0;) {
    index[d] = rest % loop.sizes[d];
    rest /= loop.sizes[d];
    offset += index[d] * operand.strides[d];
  }
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t row = std::min(loop.sizes[inner] - index[inner], count - done);
    visit(offset, done, row);
    done += row;
    offset -= index[inner] * operand.strides[inner];
    index[inner] = 0;
    for (std::size_t d = inner; d-- > 0;) {
      offset += operand.strides[d];
      if (++index[d] < loop.sizes[d]) break;
      offset -= loop.sizes[d] * operand.strides[d];
      index[d] = 0;
    }
  }
}

}  // namespace

Loop make_loop(const Shape& shape, std::span<Operand> operands) {
  if (shape.size() == 1) return {shape, operands};
  SmallVector<std::size_t, 6> order;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) order.push_back(d);
  }
  // A stable insertion sort by step size, using the first operand whose steps in the two dimensions
  // differ.
  const auto is_inner = [&](std::size_t a, std::size_t b) {
    for (const Operand& operand : operands) {
      const std::int64_t step_a = std::abs(operand.strides[a]);
      const std::int64_t step_b = std::abs(operand.strides[b]);
      if (step_a == 0 || step_b == 0) continue;
      if (step_a != step_b) return step_a < step_b;
    }
    return false;
  };
  for (std::size_t i = 1; i < order.size(); ++i) {
    for (std::size_t j = i; j > 0 && is_inner(order[j - 1], order[j]); --j) {
      std::swap(order[j - 1], order[j]);
    }
  }

  Loop loop{{}, operands};
  SmallVector<std::size_t, 6> firsts;  // the innermost source dimension of each merged one
  for (const std::size_t d : order) {
    const bool merges =
        !firsts.empty() && std::all_of(operands.begin(), operands.end(), [&](const Operand& o) {
          return o.strides[firsts.back()] == o.strides[d] * shape[d];
        });
    if (merges) {
      loop.sizes.back() *= shape[d];
      firsts.back() = d;
    } else {
      loop.sizes.push_back(shape[d]);
      firsts.push_back(d);
    }
  }
  for (Operand& operand : operands) {
    Strides strides;
    for (const std::size_t d : firsts) strides.push_back(operand.strides[d]);
    if (strides.empty()) strides.push_back(1);
    operand.strides = std::move(strides);
  }
  if (loop.sizes.empty()) loop.sizes.push_back(1);
  return loop;
}

bool is_linear(const Loop& loop, const Operand& operand) {
  return loop.sizes.size() == 1 ? operand.strides[0] == 1
                                : operand.strides == contiguous_strides(loop.sizes);
}

bool is_constant(const Operand& operand) {
  return std::all_of(operand.strides.begin(), operand.strides.end(),
                     [](std::int64_t stride) { return stride == 0; });
}

void gather(const Loop& loop, const Operand& source, std::int64_t begin, std::int64_t count,
            void* packed, DType dtype) {
  const MemoryView& memory = source.memory;
  const std::int64_t step = source.strides[loop.sizes.size() - 1];
  const RowConversion convert_row(dtype, memory.dtype);
  for_each_row(loop, source, begin, count,
               [&](std::int64_t offset, std::int64_t done, std::int64_t row) {
                 convert_row(element_at(packed, dtype, done), 1,
                             element_at(memory.address(), memory.dtype, offset), step, row);
               });
}

void scatter(const Loop& loop, const Operand& destination, std::int64_t begin, std::int64_t count,
             const void* packed, DType dtype) {
  const MemoryView& memory = destination.memory;
  const RowConversion convert_row(memory.dtype, dtype);
  const std::int64_t step = destination.strides[loop.sizes.size() - 1];
  for_each_row(loop, destination, begin, count,
               [&](std::int64_t offset, std::int64_t done, std::int64_t row) {
                 convert_row(element_at(memory.address(), memory.dtype, offset), step,
                             element_at(packed, dtype, done), 1, row);
               });
}

}  // namespace eg::cpu
