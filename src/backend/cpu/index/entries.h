#pragma once

// Elements with their indices, and sorting them. The values of every dtype are mapped to unsigned
// integers in the same order, so one function sorts all dtypes.

#include <cstdint>
#include <vector>

#include "kernels/kernel.h"

namespace eg::cpu {

struct Entry {
  std::uint64_t key;
  std::int64_t index;
};

using Entries = std::vector<Entry>;

/// Comparing indices last makes the order total, so every sorting algorithm is stable. (An object,
/// because a function would be called through its address.)
inline constexpr auto is_before = [](const Entry& a, const Entry& b) {
  return a.key != b.key ? a.key < b.key : a.index < b.index;
};

/// Returns the key of NaN, which is larger than all others, or 0 for a dtype that has no NaN.
std::uint64_t key_of_nan(DType dtype);

/// The position of a row in memory: its first element, and the distance between elements.
struct Row {
  std::int64_t start;
  std::int64_t step;
};

/// Loads `count` elements of a row, starting at `begin`. Keys are inverted if `descending`.
void load_entries(const kernel::In& in, const Row& row, std::int64_t begin, std::int64_t count,
                  bool descending, Entry* entries);

/// Sorts entries by key. Their indices must be ascending.
void sort_entries(Entries& entries);

}  // namespace eg::cpu
