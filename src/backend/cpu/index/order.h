#pragma once

// Elements of rows chosen by their order, as indices: what sort, median and cummax are made of.
// Rows are packed, of any real dtype; NaN is larger than everything.

#include <cstdint>

#include "backend/cpu/reduce/rows.h"

namespace eg::cpu {

/// Computes for every row the indices of its elements `first` to `first + count` in sorted order;
/// equal elements keep their order, also when descending. `indices` is packed as
/// [outer, count, inner].
void order_rows(const Rows& rows, const void* in, bool descending, std::int64_t first,
                std::int64_t count, std::int64_t* indices);

/// The index of the most frequent element of every row, where it is last; of several such elements
/// the smallest.
void mode_rows(const Rows& rows, const void* in, std::int64_t* indices);

/// For every element the index of the largest one up to it, the last of equals. NaN stays.
void cummax_rows(const Rows& rows, const void* in, std::int64_t* indices);
/// The same for the smallest one; NaN stays too.
void cummin_rows(const Rows& rows, const void* in, std::int64_t* indices);

}  // namespace eg::cpu
