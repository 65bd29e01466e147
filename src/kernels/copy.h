#pragma once

#include <string_view>

#include "base/scalar.h"
#include "base/shape.h"
#include "kernels/kernel.h"

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

/// Sets `count` contiguous elements to one value, which must be representable in their dtype.
struct Fill {
  static constexpr std::string_view name = "fill";
  std::int64_t count;
  Scalar value;
  Out y;

  void compute_on_cpu() const;
};

/// Sets `count` contiguous elements of a real dtype to first + i * step.
struct Ramp {
  static constexpr std::string_view name = "ramp";
  std::int64_t count;
  double first;
  double step;
  Out y;

  void compute_on_cpu() const;
};

using CopyKernels = TypeList<Copy, Fill, Ramp>;

}  // namespace eg::kernel
