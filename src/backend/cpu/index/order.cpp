#include "kernels/order.h"

#include <algorithm>
#include <array>
#include <limits>

#include "backend/cpu/index/entries.h"
#include "base/checked_int.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using kernel::In;
using kernel::Rows;

// At most one in this many elements is needed: then they are selected instead of sorting the whole
// row.
constexpr std::int64_t kSelectionRatio = 8;

// Calls visit(offset of the first element, outer index, inner index, a reusable buffer) for every
// row.
template <class Visit>
void for_each_row_start(const Rows& rows, Visit&& visit) {
  const std::int64_t grain = kMinElementsPerTask / std::max<std::int64_t>(1, 8 * rows.size) + 1;
  parallel_for(0, rows.positions(), grain, [&](std::int64_t begin, std::int64_t end) {
    Entries row;
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t o = r / rows.inner;
      const std::int64_t i = r % rows.inner;
      visit(o * rows.size * rows.inner + i, o, i, row);
    }
  });
}

// Calls visit(entries, outer index, inner index) for every row; the entries may be modified.
template <class Visit>
void for_each_row(const Rows& rows, const In& in, bool descending, Visit&& visit) {
  for_each_row_start(rows, [&](std::int64_t start, std::int64_t o, std::int64_t i, Entries& row) {
    row.resize(checked_count(rows.size));
    load_entries(in, {start, rows.inner}, 0, rows.size, descending, row.data());
    visit(row, o, i);
  });
}

// Of equal elements, including NaNs, the last one is taken. A NaN is replaced only by another NaN.
template <class T>
void running_extreme(const Rows& rows, const T* x, std::int64_t* indices, bool largest) {
  for_each_row_start(rows, [&](std::int64_t start, std::int64_t, std::int64_t, Entries&) {
    std::int64_t best = 0;
    T extreme = x[start];
    for (std::int64_t k = 0; k < rows.size; ++k) {
      const std::int64_t at = start + k * rows.inner;
      const T value = x[at];
      if ((largest ? value >= extreme : value <= extreme) || value != value) {
        extreme = value;
        best = k;
      }
      indices[at] = best;
    }
  });
}

// Moves the elements with ranks [first, first + count) to that range, in order.
void order_part(Entries& row, std::int64_t first, std::int64_t count) {
  Entry* const from = row.data() + first;
  Entry* const end = row.data() + row.size();
  if (first > 0) std::nth_element(row.data(), from, end, is_before);
  if (first == 0 || count > 1) std::partial_sort(from, from + count, end, is_before);
}

// Finds the first `count` elements of a long row in sorted order. An element that does not sort
// before the last one retained so far is skipped immediately, as most elements are.
void keep_first(const Rows& rows, const In& in, std::int64_t start, bool descending,
                std::int64_t count, Entries& kept) {
  constexpr std::int64_t kChunk = 64;
  const std::int64_t most = 4 * count + kChunk;
  std::array<Entry, kChunk> chunk;
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  bool is_full = false;
  kept.clear();
  for (std::int64_t begin = 0; begin < rows.size; begin += kChunk) {
    const std::int64_t some = std::min(rows.size - begin, kChunk);
    load_entries(in, {start, rows.inner}, begin, some, descending, chunk.data());
    // Among elements whose key equals the limit, later ones sort after it.
    for (std::int64_t i = 0; i < some; ++i) {
      const Entry& entry = chunk[static_cast<std::size_t>(i)];
      if (entry.key < limit || !is_full) kept.push_back(entry);
    }
    if (std::ssize(kept) < (is_full ? most : count)) continue;
    order_part(kept, 0, count);
    kept.resize(static_cast<std::size_t>(count));
    limit = kept.back().key;
    is_full = true;
  }
  order_part(kept, 0, count);
}

// PyTorch sorts up to this many elements by insertion.
constexpr std::ptrdiff_t kInsertedAtMost = 16;

// Sorts a row. NaN compares neither less nor greater, so for short rows that contain NaN the order
// must reproduce PyTorch's insertion sort: if no value repeats, the first element of that order is
// the mode.
void sort_for_mode(Entries& row, std::uint64_t nan) {
  const auto is_nan = [nan](const Entry& entry) { return nan != 0 && entry.key == nan; };
  if (std::ssize(row) > kInsertedAtMost || std::none_of(row.begin(), row.end(), is_nan))
    return sort_entries(row);
  const auto is_less = [&](const Entry& a, const Entry& b) { return !is_nan(b) && a.key < b.key; };
  for (auto next = row.begin() + 1; next < row.end(); ++next) {
    auto position = next;
    if (is_less(*next, row.front())) {
      position = row.begin();
    } else {
      while (is_less(*next, *(position - 1))) --position;
    }
    std::rotate(position, next, next + 1);
  }
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void OrderRows::compute_on_cpu() const {
  if (count == 0) return;
  const auto write = [&](const cpu::Entry* entry, std::int64_t o, std::int64_t i) {
    std::int64_t* out = indices.as<std::int64_t>() + o * count * rows.inner + i;
    for (std::int64_t k = 0; k < count; ++k, ++entry, out += rows.inner) *out = entry->index;
  };
  const bool is_small_part = count <= rows.size / cpu::kSelectionRatio;
  if (first == 0 && is_small_part) {
    cpu::for_each_row_start(
        rows, [&](std::int64_t start, std::int64_t o, std::int64_t i, cpu::Entries& kept) {
          cpu::keep_first(rows, x, start, descending, count, kept);
          write(kept.data(), o, i);
        });
    return;
  }
  cpu::for_each_row(rows, x, descending, [&](cpu::Entries& row, std::int64_t o, std::int64_t i) {
    is_small_part ? cpu::order_part(row, first, count) : cpu::sort_entries(row);
    write(row.data() + first, o, i);
  });
}

void ModeRows::compute_on_cpu() const {
  // NaN is not equal to anything, including itself.
  const std::uint64_t nan = cpu::key_of_nan(x.dtype());
  const auto is_other = [nan](std::uint64_t a, std::uint64_t b) {
    return a != b || (nan != 0 && a == nan);
  };
  cpu::for_each_row(rows, x, false, [&](cpu::Entries& row, std::int64_t o, std::int64_t i) {
    cpu::sort_for_mode(row, nan);
    std::ptrdiff_t longest = 0;
    for (auto begin = row.begin(); begin != row.end();) {
      const auto end = std::find_if(begin + 1, row.end(),
                                    [&](const auto& e) { return is_other(e.key, begin->key); });
      if (end - begin > longest) {
        longest = end - begin;
        indices.as<std::int64_t>()[o * rows.inner + i] = (end - 1)->index;
      }
      begin = end;
    }
  });
}

void SearchSorted::compute_on_cpu() const {
  visit_dtype(values.dtype(), [&]<class T>() {
    parallel_for(0, sequences * count, kMinElementsPerTask,
                 [&](std::int64_t first, std::int64_t end) {
                   for (std::int64_t i = first; i < end; ++i) {
                     const T value = values.as<T>()[i];
                     const T* row = sequence.as<T>() + i / count * size;
                     std::int64_t begin = 0;
                     std::int64_t length = size;
                     while (length > 0) {
                       const std::int64_t half = length / 2;
                       const T middle = row[begin + half];
                       const bool is_before = right ? !(middle > value) : !(middle >= value);
                       begin = is_before ? begin + half + 1 : begin;
                       length = is_before ? length - half - 1 : half;
                     }
                     positions.as<std::int64_t>()[i] = begin;
                   }
                 });
  });
}

void RunningExtreme::compute_on_cpu() const {
  visit_dtype(x.dtype(), [&]<class T>() {
    cpu::running_extreme(rows, x.as<T>(), indices.as<std::int64_t>(), largest);
  });
}

}  // namespace eg::kernel
