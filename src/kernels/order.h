#pragma once

// Elements of rows chosen by their order, as indices (int64): what sort, median and cummax are made
// of. Rows are packed, of any real dtype; NaN is larger than everything.

#include <string_view>

#include "kernels/kernel.h"
#include "kernels/rows.h"

namespace eg::kernel {

/// The indices of elements `first` to `first + count` of every row in sorted order; equal elements
/// keep their order, also when descending. `indices` is packed as [outer, count, inner].
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

/// The index of the most frequent element of every row, where it is last; of several such elements
/// the smallest.
struct ModeRows {
  static constexpr std::string_view name = "mode_rows";
  Rows rows;
  In x;
  Out indices;

  void compute_on_cpu() const;
};

/// For every value the number of elements of its sequence that are less, or with `right` not
/// greater. Sequences rise; they are rows of `size` elements, and each has `count` values.
struct SearchSorted {
  static constexpr std::string_view name = "search_sorted";
  std::int64_t sequences;
  std::int64_t size;
  std::int64_t count;
  bool right;
  In sequence;
  In values;   ///< of the same dtype
  Out places;  ///< int64

  void compute_on_cpu() const;
};

/// For every element the index of the largest (or smallest) one up to it, the last of equals. NaN
/// stays.
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
