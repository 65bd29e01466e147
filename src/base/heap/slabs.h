#pragma once

// Small blocks. A slab is a range of pages divided into blocks of one size; a slab whose blocks are
// all free is returned to the page heap. Not thread-safe: Heap holds the lock (heap.h).

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/heap/page_heap.h"

namespace eg {

/// A free block, linked into a list.
struct FreeBlock {
  FreeBlock* next;
};

/// The largest block that comes from a slab.
inline constexpr std::size_t kMaxSlabBlock = 32 << 10;
/// Up to kMaxSmallBlock there is one block size per multiple of this many bytes ...
inline constexpr std::size_t kSmallStep = 16;
inline constexpr std::size_t kMaxSmallBlock = 512;
/// ... and above it, this many block sizes per power of two.
inline constexpr std::size_t kSizesPerOctave = 4;
inline constexpr std::size_t kSmallSizes = kMaxSmallBlock / kSmallStep;
inline constexpr std::size_t kBlockSizes = kSmallSizes + 6 * kSizesPerOctave;

/// Returns the index of the smallest block size that holds `bytes`, which must be from 1 to
/// kMaxSlabBlock.
std::size_t block_size_of(std::size_t bytes);
/// block_size_of() for at most kMaxSmallBlock bytes.
constexpr std::size_t small_block_size_of(std::size_t bytes) { return (bytes - 1) / kSmallStep; }
/// Returns the bytes of a block of size index `size`.
std::size_t bytes_of_block_size(std::size_t size);
/// Returns the number of pages of a slab of size index `size`.
std::uint32_t slab_pages(std::size_t size);

struct Slab {
  FreeBlock* free;      ///< freed blocks
  PageNumber previous;  ///< in the list of slabs of this size with free blocks
  PageNumber next;
  std::uint16_t used;   ///< blocks in use
  std::uint16_t fresh;  ///< index of the first block that has never been used
  std::uint8_t block_size;
};

class Slabs {
 public:
  /// The minimum length of a slab. Slabs are never shorter, so no two share a table entry.
  static constexpr std::uint32_t kMinPages = 8;

  /// `base` is the address of page 0; `slabs` has one entry per kMinPages pages.
  void use_tables(std::uintptr_t base, Page* pages, Slab* slabs);

  /// Returns a block, or nullptr when add() must be called first.
  void* take(std::size_t size);
  /// Adds a slab of slab_pages(size) pages.
  void add(std::size_t size, PageNumber first);
  /// Frees a block. Returns a slab to return to the page heap, or 0. One empty slab per size is
  /// kept, so that allocating and freeing a size's only block in turn stays cheap.
  PageNumber put(void* block);
  /// Removes and returns the empty slab of a size, or returns 0.
  PageNumber take_empty(std::size_t size);

  std::size_t block_size(const void* block) const { return slab(owner(block)).block_size; }
  /// Returns the slab that contains an address, or 0.
  PageNumber owner(const void* block) const;

 private:
  Slab& slab(PageNumber first) const { return slabs_[first / kMinPages]; }
  void link(PageNumber first);
  void unlink(PageNumber first);

  std::uintptr_t base_ = 0;
  Page* pages_ = nullptr;
  Slab* slabs_ = nullptr;
  std::array<PageNumber, kBlockSizes> with_free_blocks_{};
  std::array<PageNumber, kBlockSizes> empty_{};
};

}  // namespace eg
