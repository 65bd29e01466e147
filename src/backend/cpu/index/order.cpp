#include "kernels/order.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/checked_int.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using kernel::In;
using kernel::Rows;

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

void load_row(const Rows& rows, const In& in, std::int64_t start, bool descending,
              std::vector<Entry>& row) {
  const std::uint64_t flip = descending ? ~std::uint64_t{0} : 0;
  visit_dtype(in.dtype(), [&]<class T>() {
    const T* x = in.as<T>() + start;
    for (std::int64_t i = 0; i < rows.size; ++i)
      row[static_cast<std::size_t>(i)] = {key_of(x[i * rows.inner]) ^ flip, i};
  });
}

// Calls visit(elements, outer index, inner index) for every row, with its elements to work on.
template <class Visit>
void for_each_row(const Rows& rows, const In& in, bool descending, Visit&& visit) {
  const std::int64_t grain = kMinElementsPerTask / std::max<std::int64_t>(1, 8 * rows.size) + 1;
  parallel_for(0, rows.positions(), grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Entry> row(checked_count(rows.size));
    for (std::int64_t r = begin; r < end; ++r) {
      const std::int64_t o = r / rows.inner;
      const std::int64_t i = r % rows.inner;
      load_row(rows, in, o * rows.size * rows.inner + i, descending, row);
      visit(row, o, i);
    }
  });
}

// An element replaces the best one so far when its key beats that of the best one.
template <class Beats>
void running_extreme(const Rows& rows, const In& in, std::int64_t* indices, Beats&& beats) {
  for_each_row(rows, in, false, [&](const std::vector<Entry>& row, std::int64_t o, std::int64_t i) {
    std::int64_t* out = indices + o * rows.size * rows.inner + i;
    const Entry* best = row.data();
    for (const Entry& entry : row) {
      if (beats(entry.key, best->key)) best = &entry;
      *out = best->index;
      out += rows.inner;
    }
  });
}

// Up to this many elements PyTorch sorts by insertion.
constexpr std::ptrdiff_t kInsertedAtMost = 16;

// Sorts a row. Where short rows have a NaN, which is before nothing and after nothing, the order is
// that of PyTorch's insertion, for among elements that are all rare the first one is the mode.
void sort_for_mode(std::vector<Entry>& row, std::uint64_t nan) {
  const auto is_nan = [nan](const Entry& entry) { return nan != 0 && entry.key == nan; };
  if (std::ssize(row) > kInsertedAtMost || std::none_of(row.begin(), row.end(), is_nan))
    return std::sort(row.begin(), row.end(), is_before);
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
  using Row = std::vector<cpu::Entry>;
  cpu::for_each_row(rows, x, descending, [&](Row& row, std::int64_t o, std::int64_t i) {
    cpu::Entry* const from = row.data() + first;
    cpu::Entry* const to = from + count;
    cpu::Entry* const end = row.data() + row.size();
    if (first > 0) std::nth_element(row.data(), from, end, cpu::is_before);
    if (to != end) std::nth_element(from, to, end, cpu::is_before);
    std::sort(from, to, cpu::is_before);
    std::int64_t* out = indices.as<std::int64_t>() + o * count * rows.inner + i;
    for (const cpu::Entry* entry = from; entry != to; ++entry, out += rows.inner)
      *out = entry->index;
  });
}

void ModeRows::compute_on_cpu() const {
  using Row = std::vector<cpu::Entry>;
  // That of NaN, which equals nothing, itself neither.
  const std::uint64_t nan = is_floating(x.dtype()) ? cpu::key_of(std::nan("")) : 0;
  const auto is_other = [nan](std::uint64_t a, std::uint64_t b) {
    return a != b || (nan != 0 && a == nan);
  };
  cpu::for_each_row(rows, x, false, [&](Row& row, std::int64_t o, std::int64_t i) {
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
  const auto run = [&](auto beats) {
    cpu::running_extreme(rows, x, indices.as<std::int64_t>(), beats);
  };
  if (largest) return run([](std::uint64_t a, std::uint64_t b) { return a >= b; });
  // One more makes the key of NaN, the largest, the smallest.
  const std::uint64_t shift = is_floating(x.dtype()) ? 1 : 0;
  run([shift](std::uint64_t a, std::uint64_t b) { return a + shift <= b + shift; });
}

}  // namespace eg::kernel
