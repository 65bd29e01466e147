#pragma once

#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// Computes y = x / keep where the mask is true and x * 0 elsewhere, for `count` floats: dropout,
/// and also its gradient.
struct Dropout {
  static constexpr std::string_view name = "dropout";
  std::int64_t count;
  double keep;
  In x;
  In mask;  ///< bool
  Out y;

  void compute_on_cpu() const;
};

using DropoutKernels = TypeList<Dropout>;

}  // namespace eg::kernel
