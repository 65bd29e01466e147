#pragma once

// Small objects that come and go with every op (tensor handles, nodes, version counters) are
// recycled through per-thread free lists: an allocation is a pointer swap and takes no lock. Under
// sanitizers the lists are off, so that use after free is seen.

#include <cstddef>

namespace eg {

/// Largest block the free lists serve; larger ones go to the heap.
inline constexpr std::size_t kMaxPooledBytes = 512;

/// Returns a block of at least `bytes`, aligned to 16; throws std::bad_alloc.
void* pool_allocate(std::size_t bytes);
/// The same, or nullptr.
void* try_pool_allocate(std::size_t bytes) noexcept;

/// Gives back a block of either; `bytes` is the size asked for then.
void pool_free(void* block, std::size_t bytes) noexcept;

/// Gives all that this thread's lists hold back to the heap: for a thread that will be idle, and
/// before a large block is refused.
void release_pools() noexcept;

/// Base class that routes `new` and `delete` of a type through the pool.
struct Pooled {
  static void* operator new(std::size_t bytes) { return pool_allocate(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { pool_free(block, bytes); }
};

}  // namespace eg
