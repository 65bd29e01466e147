#pragma once

// Moving elements to and from places that are named by indices, finding such places, and clearing
// those beside a diagonal.
//
// Two families. Whole slices: memory seen as [outer, rows, inner], where one index picks a row for
// all outer and inner positions (index_select, embedding). Single elements: an index per element
// (gather, scatter). Both operands have one dtype, which may be any. Indices have been checked by
// the caller. Where indices repeat, sources take effect in their order.

#include <string_view>

#include "base/shape.h"
#include "kernels/kernel.h"

namespace eg::kernel {

/// The first index outside [0, size), if there is one. Without outputs it is an error of `op`,
/// IndexOutOfRange: at once on the CPU, and elsewhere when the device is next waited for.
struct FindOutOfRange {
  static constexpr std::string_view name = "find_out_of_range";
  std::string_view op;
  std::int64_t count;
  std::int64_t dim;  ///< along which the indices go, for the error
  std::int64_t size;
  In index;              ///< int64 [count]
  OptionalOut position;  ///< int64: its place in `index`; -1 when there is none
  OptionalOut bad;       ///< int64: the index itself; 0 when there is none

  void compute_on_cpu() const;
};

/// Slices of a contiguous block: `indexed` has the shape [outer, rows, inner], `packed`
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
  IndexedRows places;
  In indexed;
  Out packed;

  void compute_on_cpu() const;
};

/// indexed[o, index[k], :] = packed[o, k, :]; of equal indices the last one wins.
struct PutRows {
  static constexpr std::string_view name = "put_rows";
  IndexedRows places;
  In packed;
  Out indexed;

  void compute_on_cpu() const;
};

/// indexed[o, index[k], :] += packed[o, k, :]; indices equal to `skip` are left out.
struct AddRows {
  static constexpr std::string_view name = "add_rows";
  IndexedRows places;
  In packed;
  Out indexed;  ///< also read
  std::int64_t skip = -1;

  void compute_on_cpu() const;
};

/// An index per element. `index` and the packed operand are contiguous, of shape `shape`, which has
/// at least one dimension; element (i, j, k) with dim = 1 names element (i, index[i, j, k], k) of
/// the indexed operand.
struct IndexedElements {
  Shape shape;
  std::int64_t dim;
  Strides strides;  ///< of the indexed operand
  In index;         ///< int64
};

/// packed[i] = the element of `indexed` that index[i] names.
struct TakeElements {
  static constexpr std::string_view name = "take_elements";
  IndexedElements places;
  In indexed;
  Out packed;

  void compute_on_cpu() const;
};

/// The element of `indexed` that index[i] names = packed[i]; of equal indices the last one wins.
struct PutElements {
  static constexpr std::string_view name = "put_elements";
  IndexedElements places;
  In packed;
  Out indexed;

  void compute_on_cpu() const;
};

/// The element of `indexed` that index[i] names += packed[i].
struct AddElements {
  static constexpr std::string_view name = "add_elements";
  IndexedElements places;
  In packed;
  Out indexed;  ///< also read

  void compute_on_cpu() const;
};

/// The element of `indexed` that index[i] names *= packed[i].
struct MultiplyElements {
  static constexpr std::string_view name = "multiply_elements";
  IndexedElements places;
  In packed;
  Out indexed;  ///< also read

  void compute_on_cpu() const;
};

/// The element of `indexed` that index[i] names = the larger, or smaller, of it and packed[i]; NaN
/// if one of them is.
struct ExtremeElements {
  static constexpr std::string_view name = "extreme_elements";
  bool largest;
  IndexedElements places;
  In packed;
  Out indexed;  ///< also read; a real dtype

  void compute_on_cpu() const;
};

/// How many elements of a contiguous mask are true.
struct CountTrue {
  static constexpr std::string_view name = "count_true";
  std::int64_t count;
  In mask;         ///< bool [count]
  Out true_count;  ///< int64

  void compute_on_cpu() const;
};

/// The positions of the true elements of a contiguous mask, in order: as many as CountTrue counts.
struct FindTrue {
  static constexpr std::string_view name = "find_true";
  std::int64_t count;
  In mask;     ///< bool [count]
  Out places;  ///< int64

  void compute_on_cpu() const;
};

/// Sets what lies above (`lower`) or below the diagonal to zero, in each matrix of a contiguous
/// block of `count` elements.
struct ClearTriangle {
  static constexpr std::string_view name = "clear_triangle";
  std::int64_t count;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t diagonal;
  bool lower;
  Out matrices;  ///< also read: the other triangle stays

  void compute_on_cpu() const;
};

using IndexKernels =
    TypeList<FindOutOfRange, TakeRows, PutRows, AddRows, TakeElements, PutElements, AddElements,
             MultiplyElements, ExtremeElements, CountTrue, FindTrue, ClearTriangle>;

}  // namespace eg::kernel
