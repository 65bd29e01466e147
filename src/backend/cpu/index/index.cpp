#include "backend/cpu/index/index.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

// Calls visit.template operator()<T>() with an integer as wide as an element: copies need no more.
template <class Visit>
void visit_width(std::size_t item_size, Visit&& visit) {
  switch (item_size) {
    case 1:
      return visit.template operator()<std::uint8_t>();
    case 4:
      return visit.template operator()<std::uint32_t>();
    case 8:
      return visit.template operator()<std::uint64_t>();
    case 16:
      return visit.template operator()<std::complex<double>>();
    default:
      fail(ErrorCode::kInternal, "no element is ", item_size, " bytes wide.");
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

// Short rows are copied element by element, which is faster than a call.
template <class T>
void copy_row(T* to, const T* from, std::int64_t count) {
  if (count == 1)
    *to = *from;
  else if (count > 0)
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
}

// Calls visit(offset in the indexed operand, offset in the packed one) for the rows of the last
// dimension that begin at [first, first + count). `offset` leaves out what the index adds.
template <class Visit>
void for_each_element_row(const Elements& e, std::int64_t first, std::int64_t count,
                          Visit&& visit) {
  const std::size_t last = e.shape.size() - 1;
  Dims position(e.shape.size());
  Strides strides = e.strides;
  strides[e.dim] = 0;
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
void for_each_element(const Elements& e, std::int64_t first, std::int64_t count, Visit&& visit) {
  const std::size_t last = e.shape.size() - 1;
  const std::int64_t length = e.shape[last];
  const std::int64_t step = e.dim == last ? 0 : e.strides[last];
  const std::int64_t dim_stride = e.strides[e.dim];
  for_each_element_row(e, first, count, [&](std::int64_t offset, std::int64_t packed) {
    const std::int64_t* index = e.index + packed;
    for (std::int64_t i = 0; i < length; ++i)
      visit(offset + i * step + index[i] * dim_stride, packed + i);
  });
}

// Tasks that write into the indexed operand take whole outer positions, which cannot meet in one
// element.
template <class Visit>
void for_each_target(const Elements& e, Visit&& visit) {
  const std::int64_t count = numel(e.shape);
  if (count == 0) return;
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < e.dim; ++d) outer *= e.shape[d];
  const std::int64_t rows = count / e.shape.back();
  if (e.dim + 1 == e.shape.size()) outer = rows;
  const std::int64_t rows_each = rows / outer;
  parallel_for(0, outer, items_per_task(count / outer), [&](std::int64_t begin, std::int64_t end) {
    for_each_element(e, begin * rows_each, (end - begin) * rows_each, visit);
  });
}

}  // namespace

std::optional<std::int64_t> find_out_of_range(std::span<const std::int64_t> index,
                                              std::int64_t size) {
  const auto limit = static_cast<std::uint64_t>(size);
  bool bad = false;
  for (const std::int64_t i : index) bad |= static_cast<std::uint64_t>(i) >= limit;
  if (!bad) return std::nullopt;
  return *std::find_if(index.begin(), index.end(),
                       [&](std::int64_t i) { return i < 0 || i >= size; });
}

void take_rows(const IndexedRows& r, std::size_t item_size, const void* indexed, void* packed) {
  const auto count = static_cast<std::int64_t>(r.index.size());
  // There can be more empty rows than a loop should count; so below.
  if (count == 0 || r.inner == 0) return;
  visit_width(item_size, [&]<class T>() {
    const auto* from = static_cast<const T*>(indexed);
    auto* to = static_cast<T*>(packed);
    parallel_for(0, r.outer * count, items_per_task(r.inner),
                 [&](std::int64_t begin, std::int64_t end) {
                   std::int64_t k = begin % count;
                   const T* block = from + begin / count * r.rows * r.inner;
                   for (std::int64_t i = begin; i < end; ++i) {
                     copy_row(to + i * r.inner,
                              block + r.index[static_cast<std::size_t>(k)] * r.inner, r.inner);
                     if (++k == count) {
                       k = 0;
                       block += r.rows * r.inner;
                     }
                   }
                 });
  });
}

void put_rows(const IndexedRows& r, std::size_t item_size, void* indexed, const void* packed) {
  const auto count = static_cast<std::int64_t>(r.index.size());
  if (count == 0 || r.inner == 0) return;
  visit_width(item_size, [&]<class T>() {
    parallel_for(0, r.outer, items_per_task(count * r.inner),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t o = begin; o < end; ++o) {
                     T* block = static_cast<T*>(indexed) + o * r.rows * r.inner;
                     const T* from = static_cast<const T*>(packed) + o * count * r.inner;
                     for (const std::int64_t row : r.index) {
                       copy_row(block + row * r.inner, from, r.inner);
                       from += r.inner;
                     }
                   }
                 });
  });
}

void add_rows(const IndexedRows& r, DType dtype, void* indexed, const void* packed,
              std::int64_t skip) {
  const auto count = static_cast<std::int64_t>(r.index.size());
  if (count == 0 || r.inner == 0) return;
  visit_any_dtype(dtype, [&]<class T>() {
    // Adds the sources of rows [first, last) of one block.
    const auto add = [&](std::int64_t o, std::int64_t first, std::int64_t last) {
      T* block = static_cast<T*>(indexed) + o * r.rows * r.inner;
      const T* from = static_cast<const T*>(packed) + o * count * r.inner;
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t row = r.index[static_cast<std::size_t>(k)];
        if (row < first || row >= last || row == skip) continue;
        T* to = block + row * r.inner;
        const T* values = from + k * r.inner;
        for (std::int64_t i = 0; i < r.inner; ++i) add_to(to[i], values[i]);
      }
    };
    if (r.outer != 1) {
      parallel_for(0, r.outer, items_per_task(count * r.inner),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t o = begin; o < end; ++o) add(o, 0, r.rows);
                   });
      return;
    }
    // Every task reads all indices: no more tasks than threads.
    const std::int64_t tasks =
        std::clamp<std::int64_t>(count * r.inner / kMinElementsPerTask, 1, num_threads());
    parallel_for(0, r.rows, (r.rows + tasks - 1) / tasks,
                 [&](std::int64_t begin, std::int64_t end) { add(0, begin, end); });
  });
}

void take_elements(const Elements& e, std::size_t item_size, const void* indexed, void* packed) {
  const std::int64_t count = numel(e.shape);
  if (count == 0) return;
  visit_width(item_size, [&]<class T>() {
    const auto* from = static_cast<const T*>(indexed);
    auto* to = static_cast<T*>(packed);
    parallel_for(0, count / e.shape.back(), items_per_task(e.shape.back()),
                 [&](std::int64_t begin, std::int64_t end) {
                   for_each_element(e, begin, end - begin, [&](std::int64_t named, std::int64_t i) {
                     to[i] = from[named];
                   });
                 });
  });
}

void put_elements(const Elements& e, std::size_t item_size, void* indexed, const void* packed) {
  visit_width(item_size, [&]<class T>() {
    auto* to = static_cast<T*>(indexed);
    const auto* from = static_cast<const T*>(packed);
    for_each_target(e, [&](std::int64_t named, std::int64_t i) { to[named] = from[i]; });
  });
}

void add_elements(const Elements& e, DType dtype, void* indexed, const void* packed) {
  visit_any_dtype(dtype, [&]<class T>() {
    auto* to = static_cast<T*>(indexed);
    const auto* from = static_cast<const T*>(packed);
    for_each_target(e, [&](std::int64_t named, std::int64_t i) { add_to(to[named], from[i]); });
  });
}

void multiply_elements(const Elements& e, DType dtype, void* indexed, const void* packed) {
  visit_any_dtype(dtype, [&]<class T>() {
    auto* to = static_cast<T*>(indexed);
    const auto* from = static_cast<const T*>(packed);
    for_each_target(e,
                    [&](std::int64_t named, std::int64_t i) { multiply_to(to[named], from[i]); });
  });
}

std::vector<std::int64_t> find_true(std::span<const bool> mask) {
  std::vector<std::int64_t> places;
  places.reserve(static_cast<std::size_t>(std::count(mask.begin(), mask.end(), true)));
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i]) places.push_back(static_cast<std::int64_t>(i));
  }
  return places;
}

void clear_triangle(void* data, std::size_t item_size, std::int64_t count, std::int64_t rows,
                    std::int64_t columns, std::int64_t diagonal, bool lower) {
  if (count == 0) return;
  const auto bytes = static_cast<std::int64_t>(item_size);
  parallel_for(
      0, count / columns, items_per_task(columns), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          // The first column that is not cleared on the right, or the first one kept on the left.
          const std::int64_t border =
              std::clamp<std::int64_t>(row % rows + diagonal + (lower ? 1 : 0), 0, columns);
          char* from = static_cast<char*>(data) + row * columns * bytes;
          if (lower)
            std::memset(from + border * bytes, 0,
                        static_cast<std::size_t>((columns - border) * bytes));
          else
            std::memset(from, 0, static_cast<std::size_t>(border * bytes));
        }
      });
}

}  // namespace eg::cpu
