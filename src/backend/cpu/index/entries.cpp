#include "backend/cpu/index/entries.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace eg::cpu {
namespace {

// Fewer elements than this are sorted by insertion.
constexpr std::size_t kMinSortedByDigits = 32;
// From this size on, the larger tables of wide digits cost less than the passes they save.
constexpr std::size_t kMinWithWideDigits = 4096;
constexpr int kWideDigit = 11;
constexpr int kNarrowDigit = 8;

template <class T>
constexpr std::uint64_t kNanKey = std::numeric_limits<std::uint64_t>::max();
// The key of a float32 uses only the upper half; bits that are equal in all keys cost no pass.
template <>
constexpr std::uint64_t kNanKey<float> = ~std::uint64_t{0} << 32;

template <class T>
std::uint64_t key_of(T value) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    // The sum makes -0 equal to 0.
    const std::uint64_t bits = static_cast<std::uint64_t>(std::bit_cast<Bits>(value + T{0}))
                               << (64 - 8 * sizeof(T));
    const std::uint64_t key = (bits & kSign) != 0 ? ~bits & kNanKey<T> : bits | kSign;
    return value != value ? kNanKey<T> : key;
  } else {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) ^ kSign;
  }
}

void insert_one_by_one(Entries& entries) {
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const Entry entry = entries[i];
    std::size_t position = i;
    for (; position > 0 && entry.key < entries[position - 1].key; --position)
      entries[position] = entries[position - 1];
    entries[position] = entry;
  }
}

// One pass of the radix sort: a stable sort by one digit of the keys.
void order_by_digit(const Entries& from, Entries& to, int shift, int bits) {
  std::array<std::uint32_t, std::size_t{1} << kWideDigit> starts;
  const std::size_t mask = (std::size_t{1} << bits) - 1;
  const auto digit_of = [&](const Entry& entry) {
    return static_cast<std::size_t>(entry.key >> shift) & mask;
  };
  std::fill_n(starts.begin(), mask + 1, 0);
  for (const Entry& entry : from) ++starts[digit_of(entry)];
  std::uint32_t position = 0;
  for (std::size_t digit = 0; digit <= mask; ++digit) {
    const std::uint32_t count = starts[digit];
    starts[digit] = position;
    position += count;
  }
  for (const Entry& entry : from) to[starts[digit_of(entry)]++] = entry;
}

}  // namespace

std::uint64_t key_of_nan(DType dtype) {
  return visit_dtype(
      dtype, []<class T>() { return std::is_floating_point_v<T> ? kNanKey<T> : std::uint64_t{0}; });
}

void load_entries(const kernel::In& in, const Row& row, std::int64_t begin, std::int64_t count,
                  bool descending, Entry* entries) {
  const std::uint64_t flip = descending ? ~std::uint64_t{0} : 0;
  visit_dtype(in.dtype(), [&]<class T>() {
    const T* x = in.as<T>() + row.start + begin * row.step;
    for (std::int64_t i = 0; i < count; ++i)
      entries[i] = {key_of(x[i * row.step]) ^ flip, begin + i};
  });
}

void sort_entries(Entries& entries) {
  if (entries.size() < kMinSortedByDigits) return insert_one_by_one(entries);
  // Only the bits in which keys differ need to be sorted by.
  std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t any = 0;
  bool is_sorted = true;
  std::uint64_t last = 0;
  for (const Entry& entry : entries) {
    all &= entry.key;
    any |= entry.key;
    is_sorted &= last <= entry.key;
    last = entry.key;
  }
  if (is_sorted) return;
  const int begin = std::countr_zero(all ^ any);
  const int width = 64 - std::countl_zero(all ^ any) - begin;
  const int widest = entries.size() < kMinWithWideDigits ? kNarrowDigit : kWideDigit;
  const int passes = (width + widest - 1) / widest;
  Entries buffer(entries.size());
  for (int pass = 0; pass < passes; ++pass) {
    const int shift = width * pass / passes;
    order_by_digit(entries, buffer, begin + shift, width * (pass + 1) / passes - shift);
    entries.swap(buffer);
  }
}

}  // namespace eg::cpu
