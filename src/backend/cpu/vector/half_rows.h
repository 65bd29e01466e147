#pragma once

// Converts rows of half precision to float32 and back, four elements at a time. The memory of a row
// must hold a whole number of such groups; elements past its end may have any value.

#include <cstdint>

#include "base/dtype.h"

namespace eg::cpu {

/// Converts `count` elements of a half-precision dtype to float32.
void widen_halves(DType dtype, const std::uint16_t* halves, float* floats, std::int64_t count);
/// The inverse of widen_halves().
void narrow_halves(DType dtype, const float* floats, std::uint16_t* halves, std::int64_t count);

}  // namespace eg::cpu
