#pragma once

#include <string_view>

#include "kernels/operand.h"

namespace eg::kernel {

/// Copies element by element, converting the dtype.
struct Copy {
  static constexpr std::string_view name = "copy";
  Shape shape;
  Out to;
  Strides to_strides;
  In from;
  Strides from_strides;

  void compute_on_cpu() const;
};

}  // namespace eg::kernel
