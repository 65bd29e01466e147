#pragma once

// The one heap of the process. WebAssembly's memory can only grow at its end, and never shrinks: so
// what is freed must be usable again for blocks of any size. Blocks up to 32 KiB come from slabs,
// larger ones are ranges of pages. Small things that stay (handles, graph nodes, what malloc takes)
// must not lie strewn between large ones that go: their pages come in chunks that grow with the
// heap, so that of however large a heap only few places are theirs. All free space is one when it
// must be.

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/page_heap.h"
#include "base/slabs.h"

namespace eg {

/// Memory that grows at its end.
class Arena {
 public:
  /// Where it begins; known before it has grown.
  virtual std::uintptr_t base() const = 0;
  /// The pages that it may have at most, with those before the first grow().
  virtual std::uint32_t max_pages() const = 0;
  /// Returns the first of so many new pages, which are zero, or 0. They need not follow the last
  /// ones.
  virtual PageNumber grow(std::uint32_t pages) = 0;

 protected:
  ~Arena() = default;
};

struct HeapStats {
  std::size_t bytes = 0;       ///< of the arena
  std::size_t free_bytes = 0;  ///< of those, not in use
};

class Heap {
 public:
  explicit constexpr Heap(Arena& arena) : arena_(&arena) {}

  /// Returns uninitialised memory aligned to 64 (16 below 512 bytes), or nullptr.
  void* allocate(std::size_t bytes);
  /// The same for what may stay: it lies among the small things, unless it is megabytes.
  void* allocate_to_stay(std::size_t bytes);
  /// Takes back a block of either; `bytes` is the size asked for then.
  void free(void* block, std::size_t bytes);
  /// The same when nobody remembers the size.
  void free(void* block);

  /// Up to `count` blocks of a size, in a list, and sets it to how many; nullptr when there is
  /// none.
  FreeBlock* take(std::size_t block_size, std::size_t& count);
  /// Takes back blocks of any sizes.
  void put(FreeBlock* blocks);

  /// What a block has room for, which is what was asked for or more.
  std::size_t bytes_of(const void* block);

  /// The size of a block that is small enough for the pool (pool.h), or 0. Takes no lock.
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
  void gather();
  bool keep_room();

  void* address(PageNumber page) const;
  PageNumber page(const void* address) const;

  std::mutex mutex_;
  Arena* arena_;
  Page* table_ = nullptr;
  /// Behind the last page.
  PageNumber end_ = 0;
  std::uint32_t total_pages_ = 0;
  PageHeap small_{1};
  PageHeap large_{2};
  Slabs slabs_;
  /// Lets those who report that there is no memory have some.
  PageNumber reserve_ = 0;
};

/// False under sanitizers, where every block comes from the C library, to be watched.
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
