#pragma once

// Small blocks: runs of pages, called slabs, that are cut into blocks of one size. A slab whose
// blocks are all free goes back to where its pages came from. No locks: see heap.h.

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/page_heap.h"

namespace eg {

/// A free block, in a list.
struct FreeBlock {
  FreeBlock* next;
};

/// The largest block that comes from a slab.
inline constexpr std::size_t kMaxSlabBlock = 32 << 10;
/// Up to here there is a size for each multiple of this many bytes...
inline constexpr std::size_t kSmallStep = 16;
inline constexpr std::size_t kMaxSmallBlock = 512;
/// ... and from there on four for each doubling.
inline constexpr std::size_t kSizesPerOctave = 4;
inline constexpr std::size_t kSmallSizes = kMaxSmallBlock / kSmallStep;
inline constexpr std::size_t kBlockSizes = kSmallSizes + 6 * kSizesPerOctave;

/// The number of the block size that serves `bytes`, which is at least 1 and at most kMaxSlabBlock.
std::size_t block_size_of(std::size_t bytes);
/// The same where that is at most kMaxSmallBlock.
constexpr std::size_t small_block_size_of(std::size_t bytes) { return (bytes - 1) / kSmallStep; }
/// The bytes of a block of that size.
std::size_t bytes_of_block_size(std::size_t size);
/// The pages of its slabs.
std::uint32_t slab_pages(std::size_t size);

struct Slab {
  FreeBlock* free;      ///< blocks that were in use before
  PageNumber previous;  ///< in the list of slabs of its size that have room
  PageNumber next;
  std::uint16_t used;   ///< blocks in use
  std::uint16_t fresh;  ///< blocks from this one on were never in use
  std::uint8_t block_size;
};

class Slabs {
 public:
  /// No slab is shorter, so that no two share a table entry.
  static constexpr std::uint32_t kMinPages = 8;

  /// `base` is the address of page 0; `slabs` has an entry for every kMinPages pages.
  void use_tables(std::uintptr_t base, Page* pages, Slab* slabs);

  /// A block, or nullptr when a slab has to be added first.
  void* take(std::size_t size);
  /// Adds a slab of slab_pages(size).
  void add(std::size_t size, PageNumber first);
  /// Takes a block back. Returns the slab that is to be given back now, or 0: one empty slab of
  /// each size is kept, for a size whose last block comes and goes.
  PageNumber put(void* block);
  /// Takes out the empty slab of that size, or returns 0.
  PageNumber take_empty(std::size_t size);

  std::size_t block_size(const void* block) const { return slab(owner(block)).block_size; }
  /// The slab of an address, or 0 when it belongs to none.
  PageNumber owner(const void* block) const;

 private:
  Slab& slab(PageNumber first) const { return slabs_[first / kMinPages]; }
  void link(PageNumber first);
  void unlink(PageNumber first);

  std::uintptr_t base_ = 0;
  Page* pages_ = nullptr;
  Slab* slabs_ = nullptr;
  std::array<PageNumber, kBlockSizes> with_room_{};
  std::array<PageNumber, kBlockSizes> empty_{};
};

}  // namespace eg
