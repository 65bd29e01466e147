#pragma once

// Running sums, products and the like along the middle dimension of packed arrays.

#include <cstdint>

#include "backend/cpu/reduce/rows.h"

namespace eg::cpu {

enum class Scan : std::uint8_t { kSum, kProd, kLogSumExp };

/// Computes out[i] = in[0] op ... op in[i]. Floats are accumulated in double. The dtype is float32,
/// float64 or, for sums and products, int64.
void scan(Scan kind, const Rows& rows, const void* in, void* out);

/// Computes out[i] = in[i] + factor[i] * out[i - 1], where nothing comes before out[0]; of floats.
void recurrence(const Rows& rows, const void* in, const void* factor, void* out);

}  // namespace eg::cpu
