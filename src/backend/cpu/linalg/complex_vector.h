#pragma once

#include <cstdint>

#include "backend/cpu/linalg/elimination.h"

namespace eg::cpu {

/// a^H b.
Complex inner(std::int64_t count, const Complex* a, const Complex* b);

/// y += factor * x
void add_scaled(std::int64_t count, Complex factor, const Complex* x, Complex* y);

}  // namespace eg::cpu
