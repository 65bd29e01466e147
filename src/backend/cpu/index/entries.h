#pragma once

// Elements with their places, and putting them in order. Every dtype is ordered as unsigned
// integers of the same order, so that one function sorts all.

#include <cstdint>
#include <vector>

#include "kernels/kernel.h"

namespace eg::cpu {

struct Entry {
  std::uint64_t key;
  std::int64_t index;
};

using Entries = std::vector<Entry>;

/// With the index every order is total, so every algorithm is stable. (An object: a function would
/// be called through its address.)
inline constexpr auto is_before = [](const Entry& a, const Entry& b) {
  return a.key != b.key ? a.key < b.key : a.index < b.index;
};

/// The key of NaN, larger than all others; 0 for a dtype without.
std::uint64_t key_of_nan(DType dtype);

/// Where elements lie that are `step` apart.
struct Row {
  std::int64_t start;
  std::int64_t step;
};

/// Writes `count` elements of a row, from `begin` on, with keys that fall where `descending`.
void load_entries(const kernel::In& in, const Row& row, std::int64_t begin, std::int64_t count,
                  bool descending, Entry* entries);

/// Puts elements in order, whose indices rise.
void sort_entries(Entries& entries);

}  // namespace eg::cpu
