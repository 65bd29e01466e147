#pragma once

// Ranges of pages: the smallest free range that is large enough serves a request, and a freed range
// becomes one with its free neighbours at once. What is known of pages lies in a table beside them,
// so that nothing is ever allocated between blocks. No locks, no system calls: see heap.h.

#include <array>
#include <cstddef>
#include <cstdint>

namespace eg {

/// A page by its number; 0 is none.
using PageNumber = std::uint32_t;

inline constexpr std::size_t kPageBytes = 8 << 10;

constexpr std::uint32_t pages_of(std::size_t bytes) {
  return static_cast<std::uint32_t>(bytes / kPageBytes + (bytes % kPageBytes != 0));
}

/// Of a range, free or used, the entries of its first and its last page are true; of a used one
/// that was marked with an owner, all are.
struct Page {
  std::uint32_t count : 24;   ///< pages of its range
  std::uint32_t free_in : 8;  ///< which heap's free range, 0: not free
  PageNumber previous;        ///< free: in its bin; used: the owner
  PageNumber next;            ///< free: in its bin; used: the number of the heap it is from
};

class PageHeap {
 public:
  /// Heaps over one table are told apart by their numbers, from 1: they do not join their ranges.
  explicit constexpr PageHeap(std::uint8_t number) : number_(number) {}

  /// Pages not in use must be zero in the table.
  void use_table(Page* table) { table_ = table; }

  /// Takes a range of `count` pages out of the heap and returns its first, or 0.
  PageNumber allocate(std::uint32_t count);
  /// Puts a range in: one it gave, one of another heap, or new memory.
  void free(PageNumber first, std::uint32_t count);
  /// Puts everything in it into another heap.
  void move_to(PageHeap& other);

  /// True for the first page of a range in use that it gave.
  bool is_home_of(PageNumber first) const { return table_[first].next == number_; }
  std::uint32_t free_pages() const { return free_pages_; }
  /// The length of the free range that ends before `end`.
  std::uint32_t free_before(PageNumber end) const;

  /// Marks all pages of a used range.
  static void set_owner(Page* table, PageNumber first, std::uint32_t count, PageNumber owner);

 private:
  // Ranges shorter than this have a bin for each length; longer ones share sixteen for a doubling.
  static constexpr std::uint32_t kExactBins = 64;
  static constexpr std::uint32_t kBinsPerOctave = 16;
  static constexpr std::size_t kWords = (kExactBins + 18 * kBinsPerOctave + 63) / 64;
  static constexpr std::size_t kBins = kWords * 64;

  static std::size_t bin_of(std::uint32_t count);
  std::size_t next_bin(std::size_t bin) const;
  PageNumber best_in(std::size_t bin, std::uint32_t count) const;
  void link(PageNumber first, std::uint32_t count);
  void unlink(PageNumber first);

  Page* table_ = nullptr;
  std::uint8_t number_;
  std::uint32_t free_pages_ = 0;
  std::array<std::uint64_t, kWords> used_bins_{};
  std::array<PageNumber, kBins> bins_{};
};

}  // namespace eg
