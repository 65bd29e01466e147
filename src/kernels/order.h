#pragma once

// Kernels that select elements of rows by their order and return indices (int64): the building
// blocks of sort, median and cummax. Rows are packed, of any real dtype; NaN is larger than all
// other values.

#include <string_view>

#include "kernels/kernel.h"
#include "kernels/rows.h"

namespace eg::kernel {

/// Computes the indices of the elements with ranks `first` to `first + count` (exclusive) in the
/// sorted order of every row. The order is stable, also when descending. `indices` is packed as
/// [outer, count, inner].
struct OrderRows {
  static constexpr std::string_view name = "order_rows";
  Rows rows;
  bool descending;
  std::int64_t first;
  std::int64_t count;
  In x;
  Out indices;

  void compute_on_cpu() const;
};

/// Computes the last index of the most frequent element of every row; of several equally frequent
/// elements, the smallest one counts.
struct ModeRows {
  static constexpr std::string_view name = "mode_rows";
  Rows rows;
  In x;
  Out indices;

  void compute_on_cpu() const;
};

/// Computes, for every value, the number of elements of its sequence that are less than the value
/// or, with `right`, not greater. Sequences are rows of `size` elements in ascending order; each
/// one is searched for `count` values.
struct SearchSorted {
  static constexpr std::string_view name = "search_sorted";
  std::int64_t sequences;
  std::int64_t size;
  std::int64_t count;
  bool right;
  In sequence;
  In values;      ///< in the dtype of `sequence`
  Out positions;  ///< int64

  void compute_on_cpu() const;
};

/// Computes, for every element, the index of the largest (or smallest) element up to it; the last
/// of several equal ones. NaN beats all other values.
struct RunningExtreme {
  static constexpr std::string_view name = "running_extreme";
  bool largest;
  Rows rows;
  In x;
  Out indices;

  void compute_on_cpu() const;
};

using OrderKernels = TypeList<OrderRows, ModeRows, SearchSorted, RunningExtreme>;

}  // namespace eg::kernel
