#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace eg::cpu {

/// A packed array seen as [outer, size, inner]: `size` is what a kernel works along.
struct Rows {
  DType dtype = DType::kFloat32;  ///< float32 or float64
  std::int64_t outer = 1;
  std::int64_t size = 1;
  std::int64_t inner = 1;
};

}  // namespace eg::cpu
