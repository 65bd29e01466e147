// Results never depend on the number of threads: the destination is divided among tasks, and each
// task reads its sources in order.

#include "kernels/index.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using kernel::IndexedElements;
using kernel::IndexedRows;

// Calls visit.template operator()<T>() with T an integer as wide as an element, which is all that
// copies need.
template <class Visit>
void visit_width(std::size_t item_size, Visit&& visit) {
  switch (item_size) {
    case 1:
      return visit.template operator()<std::uint8_t>();
    case 2:
      return visit.template operator()<std::uint16_t>();
    case 4:
      return visit.template operator()<std::uint32_t>();
    case 8:
      return visit.template operator()<std::uint64_t>();
    case 16:
      return visit.template operator()<std::complex<double>>();
    default:
      fail(ErrorCode::kInternal, "elements of ", item_size, " bytes are not supported.");
  }
}

template <class T>
void add_to(T& sum, T value) {
  if constexpr (std::is_same_v<T, bool>)
    sum = sum || value;
  else
    sum = static_cast<T>(sum + value);
}

template <class T>
void multiply_to(T& product, T value) {
  if constexpr (std::is_integral_v<T>)
    product =
        static_cast<T>(static_cast<std::uint64_t>(product) * static_cast<std::uint64_t>(value));
  else
    product *= value;
}

std::int64_t items_per_task(std::int64_t item_elements) {
  return std::max<std::int64_t>(1, kMinElementsPerTask / std::max<std::int64_t>(1, item_elements));
}

// Short rows are copied element by element, which is faster than calling memcpy.
template <class T>
void copy_row(T* to, const T* from, std::int64_t count) {
  if (count == 1)
    *to = *from;
  else if (count > 0)
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
}

// Calls visit(offset in the indexed operand, offset in the packed one) for the rows of the last
// dimension that begin at [first, first + count). `offset` does not include the index's
// contribution.
template <class Visit>
void for_each_element_row(const IndexedElements& e, std::int64_t first, std::int64_t count,
                          Visit&& visit) {
  const std::size_t last = e.shape.size() - 1;
  Dims position(e.shape.size());
  Strides strides = e.strides;
  strides[static_cast<std::size_t>(e.dim)] = 0;
  std::int64_t offset = 0;
  std::int64_t rest = first;
  for (std::size_t d = last; d-- > 0;) {
    position[d] = rest % e.shape[d];
    rest /= e.shape[d];
    offset += position[d] * strides[d];
  }
  for (std::int64_t row = first; row < first + count; ++row) {
    visit(offset, row * e.shape[last]);
    for (std::size_t d = last; d-- > 0;) {
      offset += strides[d];
      if (++position[d] < e.shape[d]) break;
      offset -= e.shape[d] * strides[d];
      position[d] = 0;
    }
  }
}

// Calls visit(offset in the indexed operand, offset in the packed one) for every element of some
// rows.
template <class Visit>
void for_each_element(const IndexedElements& e, std::int64_t first, std::int64_t count,
                      Visit&& visit) {
  const auto dim = static_cast<std::size_t>(e.dim);
  const std::size_t last = e.shape.size() - 1;
  const std::int64_t length = e.shape[last];
  const std::int64_t step = dim == last ? 0 : e.strides[last];
  const std::int64_t dim_stride = e.strides[dim];
  for_each_element_row(e, first, count, [&](std::int64_t offset, std::int64_t packed) {
    const std::int64_t* index = e.index.as<std::int64_t>() + packed;
    for (std::int64_t i = 0; i < length; ++i)
      visit(offset + i * step + index[i] * dim_stride, packed + i);
  });
}

// Tasks that write to the indexed operand process whole outer positions, so no two tasks write to
// the same element.
template <class Visit>
void for_each_target(const IndexedElements& e, Visit&& visit) {
  const std::int64_t count = numel(e.shape);
  if (count == 0) return;
  const auto dim = static_cast<std::size_t>(e.dim);
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < dim; ++d) outer *= e.shape[d];
  const std::int64_t rows = count / e.shape.back();
  if (dim + 1 == e.shape.size()) outer = rows;
  const std::int64_t rows_each = rows / outer;
  parallel_for(0, outer, items_per_task(count / outer), [&](std::int64_t begin, std::int64_t end) {
    for_each_element(e, begin * rows_each, (end - begin) * rows_each, visit);
  });
}

template <class T>
void take_rows(const IndexedRows& r, const T* from, T* to) {
  const auto* const index = r.index.as<std::int64_t>();
  parallel_for(0, r.outer * r.count, items_per_task(r.inner),
               [&](std::int64_t begin, std::int64_t end) {
                 if (r.outer == 1 && r.inner == 1) {
                   for (std::int64_t i = begin; i < end; ++i) to[i] = from[index[i]];
                   return;
                 }
                 std::int64_t k = begin % r.count;
                 const T* block = from + begin / r.count * r.rows * r.inner;
                 for (std::int64_t i = begin; i < end; ++i) {
                   copy_row(to + i * r.inner, block + index[k] * r.inner, r.inner);
                   if (++k == r.count) {
                     k = 0;
                     block += r.rows * r.inner;
                   }
                 }
               });
}

template <class T>
void put_rows(const IndexedRows& r, const T* packed, T* indexed) {
  const auto* const index = r.index.as<std::int64_t>();
  parallel_for(0, r.outer, items_per_task(r.count * r.inner),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t o = begin; o < end; ++o) {
                   T* block = indexed + o * r.rows * r.inner;
                   const T* from = packed + o * r.count * r.inner;
                   for (std::int64_t k = 0; k < r.count; ++k) {
                     copy_row(block + index[k] * r.inner, from, r.inner);
                     from += r.inner;
                   }
                 }
               });
}

template <class T>
void add_rows(const IndexedRows& r, const T* packed, T* indexed, std::int64_t skip) {
  const auto* const index = r.index.as<std::int64_t>();
  // Adds the sources of rows [first, last) of one block.
  const auto add = [&](std::int64_t o, std::int64_t first, std::int64_t last) {
    T* block = indexed + o * r.rows * r.inner;
    const T* from = packed + o * r.count * r.inner;
    for (std::int64_t k = 0; k < r.count; ++k) {
      const std::int64_t row = index[k];
      if (row < first || row >= last || row == skip) continue;
      T* to = block + row * r.inner;
      const T* values = from + k * r.inner;
      for (std::int64_t i = 0; i < r.inner; ++i) add_to(to[i], values[i]);
    }
  };
  if (r.outer != 1) {
    parallel_for(0, r.outer, items_per_task(r.count * r.inner),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t o = begin; o < end; ++o) add(o, 0, r.rows);
                 });
    return;
  }
  // Every task reads all indices, so there are no more tasks than threads.
  const std::int64_t tasks =
      std::clamp<std::int64_t>(r.count * r.inner / kMinElementsPerTask, 1, num_threads());
  parallel_for(0, r.rows, (r.rows + tasks - 1) / tasks,
               [&](std::int64_t begin, std::int64_t end) { add(0, begin, end); });
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void FindOutOfRange::compute_on_cpu() const {
  const auto* const begin = index.as<std::int64_t>();
  const auto* const end = begin + count;
  const auto limit = static_cast<std::uint64_t>(size);
  const auto is_bad = [limit](std::int64_t i) { return static_cast<std::uint64_t>(i) >= limit; };
  bool any = false;
  for (const auto* i = begin; i != end; ++i) any |= is_bad(*i);
  const auto* const found = any ? std::find_if(begin, end, is_bad) : end;
  if (!position) {
    check(!any, ErrorCode::kIndexOutOfRange, op, "index ", any ? *found : 0,
          " is out of range for dimension ", dim, " of size ", size, '.');
    if (checked) std::copy(begin, end, checked.as<std::int64_t>());
    return;
  }
  *position.as<std::int64_t>() = any ? found - begin : -1;
  *bad.as<std::int64_t>() = any ? *found : 0;
}

void TakeRows::compute_on_cpu() const {
  // The number of empty rows can be too large to iterate over; the same applies below.
  if (selection.count == 0 || selection.inner == 0) return;
  cpu::visit_width(item_size(packed.dtype()),
                   [&]<class T>() { cpu::take_rows(selection, indexed.as<T>(), packed.as<T>()); });
}

void PutRows::compute_on_cpu() const {
  if (selection.count == 0 || selection.inner == 0) return;
  cpu::visit_width(item_size(indexed.dtype()),
                   [&]<class T>() { cpu::put_rows(selection, packed.as<T>(), indexed.as<T>()); });
}

void AddRows::compute_on_cpu() const {
  if (selection.count == 0 || selection.inner == 0) return;
  visit_any_dtype(indexed.dtype(), [&]<class T>() {
    cpu::add_rows(selection, packed.as<T>(), indexed.as<T>(), skip);
  });
}

void TakeElements::compute_on_cpu() const {
  const std::int64_t count = numel(selection.shape);
  if (count == 0) return;
  cpu::visit_width(item_size(packed.dtype()), [&]<class T>() {
    const T* from = indexed.as<T>();
    T* to = packed.as<T>();
    const std::int64_t length = selection.shape.back();
    parallel_for(
        0, count / length, cpu::items_per_task(length), [&](std::int64_t begin, std::int64_t end) {
          cpu::for_each_element(selection, begin, end - begin,
                                [&](std::int64_t named, std::int64_t i) { to[i] = from[named]; });
        });
  });
}

void PutElements::compute_on_cpu() const {
  cpu::visit_width(item_size(indexed.dtype()), [&]<class T>() {
    T* to = indexed.as<T>();
    const T* from = packed.as<T>();
    cpu::for_each_target(selection,
                         [&](std::int64_t named, std::int64_t i) { to[named] = from[i]; });
  });
}

void AddElements::compute_on_cpu() const {
  visit_any_dtype(indexed.dtype(), [&]<class T>() {
    T* to = indexed.as<T>();
    const T* from = packed.as<T>();
    cpu::for_each_target(
        selection, [&](std::int64_t named, std::int64_t i) { cpu::add_to(to[named], from[i]); });
  });
}

void MultiplyElements::compute_on_cpu() const {
  visit_any_dtype(indexed.dtype(), [&]<class T>() {
    T* to = indexed.as<T>();
    const T* from = packed.as<T>();
    cpu::for_each_target(selection, [&](std::int64_t named, std::int64_t i) {
      cpu::multiply_to(to[named], from[i]);
    });
  });
}

void ExtremeElements::compute_on_cpu() const {
  visit_dtype(indexed.dtype(), [&]<class T>() {
    T* to = indexed.as<T>();
    const T* from = packed.as<T>();
    cpu::for_each_target(selection, [&](std::int64_t named, std::int64_t i) {
      const T value = from[i];
      const bool wins = largest ? value > to[named] : value < to[named];
      if (wins || value != value) to[named] = value;
    });
  });
}

void CountTrue::compute_on_cpu() const {
  const bool* const values = mask.as<bool>();
  *true_count.as<std::int64_t>() = std::count(values, values + count, true);
}

void FindTrue::compute_on_cpu() const {
  const bool* const values = mask.as<bool>();
  auto* next = positions.as<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    if (values[i]) *next++ = i;
  }
}

void ClearTriangle::compute_on_cpu() const {
  if (count == 0) return;
  const auto bytes = static_cast<std::int64_t>(item_size(matrices.dtype()));
  parallel_for(
      0, count / columns, cpu::items_per_task(columns), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          // For `lower`, the first column to clear; otherwise, the first column to keep.
          const std::int64_t border =
              std::clamp<std::int64_t>(row % rows + diagonal + (lower ? 1 : 0), 0, columns);
          char* from = matrices.as<char>() + row * columns * bytes;
          if (lower)
            std::memset(from + border * bytes, 0,
                        static_cast<std::size_t>((columns - border) * bytes));
          else
            std::memset(from, 0, static_cast<std::size_t>(border * bytes));
        }
      });
}

}  // namespace eg::kernel
