#pragma once

// Where the extreme element is, along one dimension of a strided operand.

#include <cstdint>

#include "backend/cpu/elementwise/strided.h"

namespace eg::cpu {

/// Finds the first largest (or smallest) element along `dim`; the first NaN beats all. Results are
/// packed in row-major order of the other dimensions; `values` are of the operand's dtype
/// when that is a float, else int64.
void arg_reduce(bool largest, const Shape& shape, std::int64_t dim, const Operand& in, void* values,
                std::int64_t* indices);

}  // namespace eg::cpu
