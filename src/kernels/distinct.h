#pragma once

#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// Finds the distinct values of `size` elements, in ascending order, or with `consecutive` the runs
/// of equal ones, as they come. NaN equals nothing. All results are int64; those that name a value
/// have room for `size` of them, and `number` says how many there are.
struct FindDistinct {
  static constexpr std::string_view name = "find_distinct";
  bool consecutive;
  std::int64_t size;
  In x;
  Out firsts;           ///< where each value is first
  Out counts;           ///< how many elements have it
  OptionalOut inverse;  ///< which value each element has, if wanted
  Out number;

  void compute_on_cpu() const;
};

using DistinctKernels = TypeList<FindDistinct>;

}  // namespace eg::kernel
