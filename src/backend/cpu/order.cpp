#include "backend/cpu/order.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

// Every dtype is sorted as unsigned integers of the same order, by one instantiation.
struct Entry {
  std::uint64_t key;
  std::int64_t index;
};

// With the index every order is total, so every algorithm is stable.
bool is_before(const Entry& a, const Entry& b) {
  return a.key != b.key ? a.key < b.key : a.index < b.index;
}

template <class T>
std::uint64_t key_of(T value) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return std::numeric_limits<std::uint64_t>::max();
    // The sum makes -0 equal to 0.
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(value) + 0.0);
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  } else {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) ^ kSign;
  }
}

void load_row(const Rows& rows, const void* in, std::int64_t start, bool descending,
              std::vector<Entry>& row) {
  const std::uint64_t flip = descending ? ~std::uint64_t{0} : 0;
  visit_dtype(rows.dtype, [&]<class T>() {
    const T* x = static_cast<const T*>(in) + start;
    for (std::int64_t i = 0; i < rows.size; ++i)
      row[static_cast<std::size_t>(i)] = {key_of(x[i * rows.inner]) ^ flip, i};
  });
}

}  // namespace

void order_rows(const Rows& rows, const void* in, bool descending, std::int64_t first,
                std::int64_t count, std::int64_t* indices) {
  if (count == 0) return;
  const std::int64_t grain = kMinElementsPerTask / std::max<std::int64_t>(1, 8 * rows.size) + 1;
  parallel_for(0, rows.outer * rows.inner, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Entry> row(static_cast<std::size_t>(rows.size));
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t o = r / rows.inner;
      const std::int64_t i = r % rows.inner;
      load_row(rows, in, o * rows.size * rows.inner + i, descending, row);
      const auto from = row.begin() + first;
      const auto to = from + count;
      if (first > 0) std::nth_element(row.begin(), from, row.end(), is_before);
      if (to != row.end()) std::nth_element(from, to, row.end(), is_before);
      std::sort(from, to, is_before);
      std::int64_t* out = indices + o * count * rows.inner + i;
      for (auto entry = from; entry != to; ++entry, out += rows.inner) *out = entry->index;
    }
  });
}

}  // namespace eg::cpu
