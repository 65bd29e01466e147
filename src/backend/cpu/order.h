#pragma once

// The order of the elements of rows, as indices: what sort, topk and median are made of.

#include <cstdint>

#include "backend/cpu/softmax.h"

namespace eg::cpu {

/// Computes for every row of a packed array of any real dtype the indices of its elements `first`
/// to `first + count` in sorted order. NaN is larger than everything; equal elements keep their
/// order, also when descending. `indices` is packed as [outer, count, inner].
void order_rows(const Rows& rows, const void* in, bool descending, std::int64_t first,
                std::int64_t count, std::int64_t* indices);

}  // namespace eg::cpu
