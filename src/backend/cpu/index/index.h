#pragma once

// Moving elements to and from places that are named by indices.
//
// Two families. Whole slices: memory seen as [outer, rows, inner], where one index picks a row for
// all outer and inner positions (index_select, embedding). Single elements: an index per element
// (gather, scatter). Indices have been checked by the caller. Results never depend on the number of
// threads: tasks divide the destination, and each walks its sources in order.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace eg::cpu {

/// The first index outside [0, size), if there is one.
std::optional<std::int64_t> find_out_of_range(std::span<const std::int64_t> index,
                                              std::int64_t size);

/// Slices of a contiguous block: `indexed` has the shape [outer, rows, inner], `packed`
/// [outer, index.size(), inner].
struct IndexedRows {
  std::int64_t outer = 1;
  std::int64_t rows = 0;
  std::int64_t inner = 1;
  std::span<const std::int64_t> index;
};

/// packed[o, k, :] = indexed[o, index[k], :].
void take_rows(const IndexedRows& rows, std::size_t item_size, const void* indexed, void* packed);
/// indexed[o, index[k], :] = packed[o, k, :].
void put_rows(const IndexedRows& rows, std::size_t item_size, void* indexed, const void* packed);
/// indexed[o, index[k], :] += packed[o, k, :]; indices equal to `skip` are left out.
void add_rows(const IndexedRows& rows, DType dtype, void* indexed, const void* packed,
              std::int64_t skip = -1);

/// An index per element. `index` and the packed operand are contiguous, of shape `shape`; element
/// (i, j, k) with dim = 1 names element (i, index[i, j, k], k) of the indexed operand.
struct Elements {
  Shape shape;
  std::size_t dim = 0;
  Strides strides;  ///< of the indexed operand
  const std::int64_t* index = nullptr;
};

/// packed[i] = the element of `indexed` that index[i] names.
void take_elements(const Elements& elements, std::size_t item_size, const void* indexed,
                   void* packed);
/// The element of `indexed` that index[i] names = packed[i]; of equal indices the last one wins.
void put_elements(const Elements& elements, std::size_t item_size, void* indexed,
                  const void* packed);
/// The element of `indexed` that index[i] names += packed[i].
void add_elements(const Elements& elements, DType dtype, void* indexed, const void* packed);

/// The same, multiplied.
void multiply_elements(const Elements& elements, DType dtype, void* indexed, const void* packed);

/// The positions of true elements in a contiguous mask.
std::vector<std::int64_t> find_true(std::span<const bool> mask);

/// Sets what lies above (`lower`) or below the diagonal to zero, in each matrix of a contiguous
/// block.
void clear_triangle(void* data, std::size_t item_size, std::int64_t count, std::int64_t rows,
                    std::int64_t columns, std::int64_t diagonal, bool lower);

}  // namespace eg::cpu
