#pragma once

// The arithmetic of dropout, forward and backward.

#include <cstdint>

#include "base/dtype.h"

namespace eg::cpu {

/// out = in / keep where mask holds, in * 0 elsewhere; `dtype` is float32 or float64.
void drop(DType dtype, void* out, const void* in, const bool* mask, double keep,
          std::int64_t count);

}  // namespace eg::cpu
