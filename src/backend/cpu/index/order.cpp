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

// A part of the order is chosen, and not sorted out of the whole, where it is one of this many.
constexpr std::int64_t kManyPerKept = 8;

// Calls visit(where its first element is, outer index, inner index, room) for every row.
template <class Visit>
void for_each_place(const Rows& rows, Visit&& visit) {
  const std::int64_t grain = kMinElementsPerTask / std::max<std::int64_t>(1, 8 * rows.size) + 1;
  parallel_for(0, rows.positions(), grain, [&](std::int64_t begin, std::int64_t end) {
    Entries room;
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t o = r / rows.inner;
      const std::int64_t i = r % rows.inner;
      visit(o * rows.size * rows.inner + i, o, i, room);
    }
  });
}

// Calls visit(elements, outer index, inner index) for every row, with its elements to work on.
template <class Visit>
void for_each_row(const Rows& rows, const In& in, bool descending, Visit&& visit) {
  for_each_place(rows, [&](std::int64_t start, std::int64_t o, std::int64_t i, Entries& row) {
    row.resize(checked_count(rows.size));
    load_entries(in, {start, rows.inner}, 0, rows.size, descending, row.data());
    visit(row, o, i);
  });
}

// Of equals, of NaNs too, the last one counts; nothing comes after NaN but another.
template <class T>
void running_extreme(const Rows& rows, const T* x, std::int64_t* indices, bool largest) {
  for_each_place(rows, [&](std::int64_t start, std::int64_t, std::int64_t, Entries&) {
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

// Moves the elements [first, first + count) of the order there.
void order_part(Entries& row, std::int64_t first, std::int64_t count) {
  Entry* const from = row.data() + first;
  Entry* const end = row.data() + row.size();
  if (first > 0) std::nth_element(row.data(), from, end, is_before);
  if (first == 0 || count > 1) std::partial_sort(from, from + count, end, is_before);
}

// The first `count` elements of the order of a long row. What is not before the last of those that
// were kept is never looked at again, and most elements are not.
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
    // Of elements with the key of the limit those that come later are after it.
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

// Up to this many elements PyTorch sorts by insertion.
constexpr std::ptrdiff_t kInsertedAtMost = 16;

// Sorts a row. Where short rows have a NaN, which is before nothing and after nothing, the order is
// that of PyTorch's insertion, for among elements that are all rare the first one is the mode.
void sort_for_mode(Entries& row, std::uint64_t nan) {
  const auto is_nan = [nan](const Entry& entry) { return nan != 0 && entry.key == nan; };
  if (std::ssize(row) > kInsertedAtMost || std::none_of(row.begin(), row.end(), is_nan))
    return sort_entries(row);
  const auto is_less = [&](const Entry& a, const Entry& b) { return !is_nan(b) && a.key < b.key; };
  for (auto next = row.begin() + 1; next < row.end(); ++next) {
    auto place = next;
    if (is_less(*next, row.front())) {
      place = row.begin();
    } else {
      while (is_less(*next, *(place - 1))) --place;
    }
    std::rotate(place, next, next + 1);
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
  const bool is_small_part = count <= rows.size / cpu::kManyPerKept;
  if (first == 0 && is_small_part) {
    cpu::for_each_place(
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
  // That of NaN, which equals nothing, itself neither.
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
                     places.as<std::int64_t>()[i] = begin;
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
