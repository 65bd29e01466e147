#pragma once

// Small objects that every op creates and frees (tensor handles, nodes, version counters) are
// recycled through per-thread free lists by size: an allocation pops a list and takes no lock.
// Sanitizer builds bypass the lists, so that use-after-free is detected.

#include <cstddef>

namespace eg {

/// Largest block the free lists serve; larger ones go to the heap.
inline constexpr std::size_t kMaxPooledBytes = 512;

/// Returns a block of at least `bytes`, aligned to 16; throws std::bad_alloc.
void* pool_allocate(std::size_t bytes);
/// pool_allocate() that returns nullptr instead of throwing.
void* try_pool_allocate(std::size_t bytes) noexcept;

/// Frees a block of either function; `bytes` is the size that was requested.
void pool_free(void* block, std::size_t bytes) noexcept;

/// Returns all blocks in this thread's lists to the heap. Called when a thread becomes idle and
/// before an allocation fails.
void release_pools() noexcept;

/// Base class that routes `new` and `delete` of a type through the pool.
struct Pooled {
  static void* operator new(std::size_t bytes) { return pool_allocate(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { pool_free(block, bytes); }
};

}  // namespace eg
