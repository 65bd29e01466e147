#pragma once

// Indexing: reading and writing elements at given indices, finding the positions of true elements,
// and clearing triangles of matrices.
//
// There are two families. Whole slices: memory is seen as [outer, rows, inner], and one index
// selects a row for all outer and inner positions (index_select, embedding). Single elements: each
// element has its own index (gather, scatter). Both operands have the same dtype, which may be any.
// The caller has checked the indices. When indices repeat, the sources are applied in order.

#include <string_view>

#include "base/shape.h"
#include "kernels/kernel.h"

namespace eg::kernel {

/// Finds the first index outside [0, size). Without `position`, such an index is an IndexOutOfRange
/// error of `op`: the CPU throws it immediately. Other devices report it when something is read
/// that was computed from `checked`, which the op uses in place of `index`.
struct FindOutOfRange {
  static constexpr std::string_view name = "find_out_of_range";
  std::string_view op;
  std::int64_t count;
  std::int64_t dim;  ///< the indexed dimension, for the error message
  std::int64_t size;
  In index;              ///< int64 [count]
  OptionalOut position;  ///< int64: its position in `index`; -1 when there is none
  OptionalOut bad;       ///< int64: the index itself; 0 when there is none
  OptionalOut checked;   ///< int64 [count]: the indices, those outside replaced by 0

  void compute_on_cpu() const;
};

/// Selects slices of contiguous memory: `indexed` has the shape [outer, rows, inner], `packed`
/// [outer, count, inner].
struct IndexedRows {
  std::int64_t outer;
  std::int64_t rows;
  std::int64_t inner;
  std::int64_t count;
  In index;  ///< int64 [count]
};

/// packed[o, k, :] = indexed[o, index[k], :].
struct TakeRows {
  static constexpr std::string_view name = "take_rows";
  IndexedRows selection;
  In indexed;
  Out packed;

  void compute_on_cpu() const;
};

/// indexed[o, index[k], :] = packed[o, k, :]; among equal indices, the last one wins.
struct PutRows {
  static constexpr std::string_view name = "put_rows";
  IndexedRows selection;
  In packed;
  Out indexed;

  void compute_on_cpu() const;
};

/// indexed[o, index[k], :] += packed[o, k, :]; indices equal to `skip` are ignored.
struct AddRows {
  static constexpr std::string_view name = "add_rows";
  IndexedRows selection;
  In packed;
  Out indexed;  ///< also read
  std::int64_t skip = -1;

  void compute_on_cpu() const;
};

/// Selects one element per index. `index` and the packed operand are contiguous and have the shape
/// `shape`, which has at least one dimension. With dim = 1, element (i, j, k) selects element
/// (i, index[i, j, k], k) of the indexed operand.
struct IndexedElements {
  Shape shape;
  std::int64_t dim;
  Strides strides;  ///< of the indexed operand
  In index;         ///< int64
};

/// packed[i] = the element of `indexed` that index[i] selects.
struct TakeElements {
  static constexpr std::string_view name = "take_elements";
  IndexedElements selection;
  In indexed;
  Out packed;

  void compute_on_cpu() const;
};

/// The element of `indexed` that index[i] selects = packed[i]; among equal indices, the last one
/// wins.
struct PutElements {
  static constexpr std::string_view name = "put_elements";
  IndexedElements selection;
  In packed;
  Out indexed;

  void compute_on_cpu() const;
};

/// The element of `indexed` that index[i] selects += packed[i].
struct AddElements {
  static constexpr std::string_view name = "add_elements";
  IndexedElements selection;
  In packed;
  Out indexed;  ///< also read

  void compute_on_cpu() const;
};

/// The element of `indexed` that index[i] selects *= packed[i].
struct MultiplyElements {
  static constexpr std::string_view name = "multiply_elements";
  IndexedElements selection;
  In packed;
  Out indexed;  ///< also read

  void compute_on_cpu() const;
};

/// The element of `indexed` that index[i] selects = the larger (or smaller) of itself and
/// packed[i]; NaN if either is NaN.
struct ExtremeElements {
  static constexpr std::string_view name = "extreme_elements";
  bool largest;
  IndexedElements selection;
  In packed;
  Out indexed;  ///< also read; a real dtype

  void compute_on_cpu() const;
};

/// Counts the true elements of a contiguous mask.
struct CountTrue {
  static constexpr std::string_view name = "count_true";
  std::int64_t count;
  In mask;         ///< bool [count]
  Out true_count;  ///< int64

  void compute_on_cpu() const;
};

/// Finds the positions of the true elements of a contiguous mask, in order. `positions` has as many
/// elements as CountTrue counts.
struct FindTrue {
  static constexpr std::string_view name = "find_true";
  std::int64_t count;
  In mask;        ///< bool [count]
  Out positions;  ///< int64

  void compute_on_cpu() const;
};

/// Sets the elements above (`lower`) or below a diagonal to zero, in each matrix of a contiguous
/// batch with `count` elements in total.
struct ClearTriangle {
  static constexpr std::string_view name = "clear_triangle";
  std::int64_t count;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t diagonal;
  bool lower;
  Out matrices;  ///< updated in place: the other triangle is unchanged

  void compute_on_cpu() const;
};

using IndexKernels =
    TypeList<FindOutOfRange, TakeRows, PutRows, AddRows, TakeElements, PutElements, AddElements,
             MultiplyElements, ExtremeElements, CountTrue, FindTrue, ClearTriangle>;

}  // namespace eg::kernel
