// compile: compact

#include "kernels/copy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "backend/cpu/elementwise/convert.h"
#include "backend/cpu/elementwise/strided.h"
#include "backend/cpu/elementwise/transpose.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

// Rows with at most this many elements are copied column by column.
constexpr std::int64_t kShortRow = 8;

// The two dimensions that a copy iterates over at once: the one with the smallest output step, and
// the one with the smallest input step (or the next smallest, if both are the same dimension). The
// remaining dimensions enumerate such planes.
struct Planes {
  std::size_t inner;
  std::size_t outer;
  std::int64_t rows;     ///< of a plane
  std::int64_t columns;  ///< of a row, along `inner`
  std::int64_t count;    ///< of planes
};

Planes planes_of(const Loop& loop) {
  const std::size_t inner = loop.sizes.size() - 1;
  const Strides& steps = loop.operands[1].strides;
  const auto step_of = [&](std::size_t d) { return std::abs(steps[d]); };
  std::size_t outer = inner == 0 ? 0 : inner - 1;
  std::size_t nearest = inner;
  for (std::size_t d = 0; d < inner; ++d) {
    if (step_of(d) != 0 && step_of(d) < step_of(nearest)) nearest = d;
  }
  if (nearest != inner) outer = nearest;
  const std::int64_t rows = inner == 0 ? 1 : loop.sizes[outer];
  const std::int64_t columns = loop.sizes[inner];
  return {inner, outer, rows, columns, loop.numel() / (rows * columns)};
}

struct Steps {
  std::int64_t row;
  std::int64_t column;
};

// Returns the offset of plane `index` in an operand.
std::int64_t plane_offset(const Loop& loop, const Planes& planes, const Operand& operand,
                          std::int64_t index) {
  std::int64_t offset = 0;
  for (std::size_t d = planes.inner; d-- > 0;) {
    if (d == planes.outer) continue;
    offset += index % loop.sizes[d] * operand.strides[d];
    index /= loop.sizes[d];
  }
  return offset;
}

// Calls visit(output offset, input offset, rows) for the parts of planes that make up rows [begin,
// end), counted over all planes.
template <class Visit>
void for_each_plane(const Loop& loop, const Planes& planes, std::int64_t begin, std::int64_t end,
                    Visit&& visit) {
  const Operand& to = loop.operands[0];
  const Operand& from = loop.operands[1];
  while (begin < end) {
    const std::int64_t first = begin % planes.rows;
    const std::int64_t rows = std::min(planes.rows - first, end - begin);
    const std::int64_t plane = begin / planes.rows;
    const std::int64_t skipped_to = planes.rows == 1 ? 0 : first * to.strides[planes.outer];
    const std::int64_t skipped_from = planes.rows == 1 ? 0 : first * from.strides[planes.outer];
    visit(plane_offset(loop, planes, to, plane) + skipped_to,
          plane_offset(loop, planes, from, plane) + skipped_from, rows);
    begin += rows;
  }
}

Steps steps_in(const Planes& planes, const Operand& operand) {
  return {planes.rows == 1 ? 0 : operand.strides[planes.outer], operand.strides[planes.inner]};
}

void copy_rows(const Loop& loop, const Planes& planes, std::int64_t begin, std::int64_t end) {
  const MemoryView& to = loop.operands[0].memory;
  const MemoryView& from = loop.operands[1].memory;
  const Steps to_steps = steps_in(planes, loop.operands[0]);
  const Steps from_steps = steps_in(planes, loop.operands[1]);
  const RowConversion convert_row(to.dtype, from.dtype);
  for_each_plane(
      loop, planes, begin, end,
      [&](std::int64_t to_offset, std::int64_t from_offset, std::int64_t rows) {
        const bool by_columns = planes.columns <= kShortRow && planes.columns < rows;
        const std::int64_t lines = by_columns ? planes.columns : rows;
        const std::int64_t count = by_columns ? rows : planes.columns;
        const auto along = by_columns ? &Steps::row : &Steps::column;
        const auto across = by_columns ? &Steps::column : &Steps::row;
        for (std::int64_t line = 0; line < lines; ++line) {
          convert_row(
              element_at(to.address(), to.dtype, to_offset + line * (to_steps.*across)),
              to_steps.*along,
              element_at(from.address(), from.dtype, from_offset + line * (from_steps.*across)),
              from_steps.*along, count);
        }
      });
}

// Copies a single row, whose elements are divided among threads.
void copy_row(const Loop& loop, std::int64_t begin, std::int64_t end) {
  const Operand& to = loop.operands[0];
  const Operand& from = loop.operands[1];
  convert_elements(element_at(to.memory.address(), to.memory.dtype, begin * to.strides[0]),
                   to.memory.dtype, to.strides[0],
                   element_at(from.memory.address(), from.memory.dtype, begin * from.strides[0]),
                   from.memory.dtype, from.strides[0], end - begin);
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void Fill::compute_on_cpu() const {
  // The bytes of one element, which is then repeated along each row.
  alignas(16) std::array<char, 16> element{};
  if (is_stored_integer(y.dtype()) && !value.is_float()) {
    const auto number = value.to<std::int64_t>();
    cpu::convert_elements(element.data(), y.dtype(), 1, &number, DType::kInt64, 0, 1);
  } else if (is_stored_integer(y.dtype())) {
    const auto number = value.to<double>();
    cpu::convert_elements(element.data(), y.dtype(), 1, &number, DType::kFloat64, 0, 1);
  } else if (is_stored(y.dtype())) {
    const auto number = value.to<float>();
    cpu::convert_elements(element.data(), y.dtype(), 1, &number, DType::kFloat32, 0, 1);
  } else {
    visit_any_dtype(y.dtype(), [&]<class T>() {
      const T number = value.to<T>();
      std::memcpy(element.data(), &number, sizeof(T));
    });
  }
  parallel_for(0, count, kMinElementsPerTask, [&](std::int64_t begin, std::int64_t end) {
    cpu::convert_elements(cpu::element_at(y.bytes(), y.dtype(), begin), y.dtype(), 1,
                          element.data(), y.dtype(), 0, end - begin);
  });
}

void Copy::compute_on_cpu() const {
  if (numel(shape) == 0) return;
  std::array<Operand, 2> operands{Operand{to.view(), to_strides},
                                  Operand{from.view(), from_strides}};
  const cpu::Loop loop = cpu::make_loop(shape, operands);
  if (const auto dim = cpu::transposed_dim(loop)) return cpu::copy_transposed(loop, *dim);
  if (loop.sizes.size() == 1) {
    return parallel_for(
        0, loop.sizes[0], kMinElementsPerTask,
        [&](std::int64_t begin, std::int64_t end) { cpu::copy_row(loop, begin, end); });
  }
  const cpu::Planes planes = cpu::planes_of(loop);
  parallel_for(
      0, planes.count * planes.rows,
      std::max<std::int64_t>(1, kMinElementsPerTask / planes.columns),
      [&](std::int64_t begin, std::int64_t end) { cpu::copy_rows(loop, planes, begin, end); });
}

void Ramp::compute_on_cpu() const {
  visit_dtype(y.dtype(), [&]<class T>() {
    T* const to = y.as<T>();
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = Scalar(first + static_cast<double>(i) * step).to<T>();
  });
}

}  // namespace eg::kernel
