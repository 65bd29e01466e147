#pragma once

// Ranges of pages. A request is served by the smallest free range that is large enough, and a freed
// range is merged with its free neighbors immediately. Page metadata is stored in a separate
// table, so nothing is allocated between blocks. Makes no system calls and is not thread-safe: Heap
// holds the lock (heap.h).

#include <array>
#include <cstddef>
#include <cstdint>

namespace eg {

/// The index of a page; 0 means "none".
using PageNumber = std::uint32_t;

inline constexpr std::size_t kPageBytes = 8 << 10;

constexpr std::uint32_t pages_of(std::size_t bytes) {
  return static_cast<std::uint32_t>(bytes / kPageBytes + (bytes % kPageBytes != 0));
}

/// The entries of the first and the last page of a range, free or used, are valid; in a used range
/// that set_owner() marked, all are.
struct Page {
  std::uint32_t count : 24;   ///< pages of the range
  std::uint32_t free_in : 8;  ///< number of the heap in which the range is free; 0: in use
  PageNumber previous;        ///< free: previous range in its bin; used: the owner
  PageNumber next;  ///< free: next range in its bin; used: number of the heap that allocated it
};

class PageHeap {
 public:
  /// Heaps that share a table have distinct numbers, from 1. They do not merge each other's ranges.
  explicit constexpr PageHeap(std::uint8_t number) : number_(number) {}

  /// Table entries of pages outside the heap must be zero.
  void use_table(Page* table) { table_ = table; }

  /// Removes a range of `count` pages from the heap and returns its first page, or 0.
  PageNumber allocate(std::uint32_t count);
  /// Adds a range: one allocated from this heap or another, or new memory.
  void free(PageNumber first, std::uint32_t count);
  /// Moves all free ranges to another heap.
  void move_to(PageHeap& other);

  /// Returns true if this heap allocated the used range that starts at `first`.
  bool has_allocated(PageNumber first) const { return table_[first].next == number_; }
  std::uint32_t free_pages() const { return free_pages_; }
  /// Returns the length of the free range that ends just before `end`.
  std::uint32_t free_before(PageNumber end) const;

  /// Sets the owner of all pages of a used range.
  static void set_owner(Page* table, PageNumber first, std::uint32_t count, PageNumber owner);

 private:
  // Ranges shorter than this have one bin per length; longer ones share sixteen bins per power of
  // two.
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
