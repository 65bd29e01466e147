#pragma once

// The heap of the process. WebAssembly memory can only grow at its end and never shrinks, so freed
// memory must be reusable for blocks of any size. Blocks up to 32 KiB come from slabs; larger ones
// are ranges of pages. Small long-lived blocks (handles, graph nodes, malloc's blocks) must not be
// scattered between large blocks that are freed later. Their pages are therefore allocated in
// chunks whose size grows with the heap, so that they occupy only a few regions however large the
// heap is. When memory runs out, all free space is merged.

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/heap/page_heap.h"
#include "base/heap/slabs.h"

namespace eg {

/// Memory that can grow at its end.
class Arena {
 public:
  /// Returns the address of the first byte; valid before the first grow().
  virtual std::uintptr_t base() const = 0;
  /// Returns the maximum number of pages, including those before the first grow().
  virtual std::uint32_t max_pages() const = 0;
  /// Adds `pages` zeroed pages and returns the first, or 0 on failure. They need not be adjacent to
  /// the previous ones.
  virtual PageNumber grow(std::uint32_t pages) = 0;

 protected:
  ~Arena() = default;
};

struct HeapStats {
  std::size_t bytes = 0;       ///< size of the arena
  std::size_t free_bytes = 0;  ///< of those, unused
};

class Heap {
 public:
  explicit constexpr Heap(Arena& arena) : arena_(&arena) {}

  /// Returns uninitialized memory aligned to 64 (16 below 512 bytes), or nullptr.
  void* allocate(std::size_t bytes);
  /// allocate() for blocks that may be long-lived: places them among the small blocks, unless they
  /// are larger than 4 MiB.
  void* allocate_long_lived(std::size_t bytes);
  /// Frees a block that either function returned; `bytes` is the size that was requested.
  void free(void* block, std::size_t bytes);
  /// Frees a block whose requested size is unknown.
  void free(void* block);

  /// Takes up to `count` blocks of a size index and sets `count` to the number taken; returns them
  /// as a list, or nullptr when memory has run out.
  FreeBlock* take(std::size_t block_size, std::size_t& count);
  /// Frees a list of blocks of any sizes.
  void put(FreeBlock* blocks);

  /// Returns the usable bytes of a block, which are at least the bytes requested.
  std::size_t bytes_of(const void* block);

  /// Returns the size of a block that belongs to the pool (pool.h), or 0. Takes no lock.
  std::size_t pooled_bytes(const void* block) const;

  HeapStats stats();

 private:
  bool start();
  bool grow_for(std::uint32_t pages);
  PageNumber take_large(std::uint32_t pages);
  PageNumber take_small(std::uint32_t pages);
  void* take_block(std::size_t block_size);
  void put_block(void* block);
  void free_pages(PageNumber first, std::uint32_t count);
  void merge_free_pages();
  bool restore_reserve();

  void* address(PageNumber page) const;
  PageNumber page(const void* address) const;

  std::mutex mutex_;
  Arena* arena_;
  Page* table_ = nullptr;
  /// One past the last page.
  PageNumber end_ = 0;
  std::uint32_t total_pages_ = 0;
  PageHeap small_{1};
  PageHeap large_{2};
  Slabs slabs_;
  /// Released when memory runs out, so that the failure can be reported.
  PageNumber reserve_ = 0;
};

/// False under sanitizers, where every block comes from the C library so that it can be checked.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kOwnHeap = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kOwnHeap = false;
#else
inline constexpr bool kOwnHeap = true;
#endif
#else
inline constexpr bool kOwnHeap = true;
#endif

/// Never destroyed: objects with static lifetime may be freed after any destructor.
Heap& process_heap();

}  // namespace eg
