#pragma once

#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// Finds the distinct values of `size` elements in ascending order, or, with `consecutive`, the
/// runs of equal elements in their order. NaN is equal to nothing. All results are int64. `firsts`
/// and `counts` have space for `size` entries, of which `number` are used.
struct FindDistinct {
  static constexpr std::string_view name = "find_distinct";
  bool consecutive;
  std::int64_t size;
  In x;
  Out firsts;           ///< index of the first element of each value
  Out counts;           ///< number of elements of each value
  OptionalOut inverse;  ///< index of the value of each element
  Out number;

  void compute_on_cpu() const;
};

using DistinctKernels = TypeList<FindDistinct>;

}  // namespace eg::kernel
