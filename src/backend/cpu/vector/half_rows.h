#pragma once

// Rows of half precision to float32 and back, four numbers at a time. A row has room for a whole
// number of such fours; what lies behind its end may be anything.

#include <cstdint>

#include "base/dtype.h"

namespace eg::cpu {

/// Makes float32 of `count` elements of a dtype of half precision.
void widen_halves(DType dtype, const std::uint16_t* halves, float* floats, std::int64_t count);
/// The other way round.
void narrow_halves(DType dtype, const float* floats, std::uint16_t* halves, std::int64_t count);

}  // namespace eg::cpu
