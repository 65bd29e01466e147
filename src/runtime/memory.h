#pragma once

// Tensor memory. Training asks for the same sizes step after step, so freed blocks are kept in
// free lists by size class and handed out again; small ones per thread without a lock. All of it is
// counted, because "is memory flat?" is a question users and tests ask.

#include <cstddef>
#include <cstdint>

namespace eg {

/// Returns uninitialised memory, or throws OutOfMemory saying how much was wanted and is in use.
void* allocate_bytes(std::size_t bytes);

/// Gives back a block of allocate_bytes; `bytes` is the size asked for then.
void free_bytes(void* block, std::size_t bytes) noexcept;

/// Returns cached blocks to the heap.
void release_cached_memory() noexcept;

struct MemoryStats {
  std::int64_t bytes = 0;         ///< in use by storages
  std::int64_t peak_bytes = 0;    ///< highest `bytes` since start or reset
  std::int64_t cached_bytes = 0;  ///< freed, kept for reuse
};
MemoryStats memory_stats();
void reset_peak_memory();

}  // namespace eg
