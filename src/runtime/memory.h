#pragma once

// Tensor memory, from the process's heap (base/heap.h); small blocks per thread without a lock. All
// of it is counted, because "is memory flat?" is a question users and tests ask.

#include <cstddef>
#include <cstdint>

namespace eg {

/// Returns uninitialised memory, or throws OutOfMemory saying how much was wanted and is in use.
void* allocate_bytes(std::size_t bytes);

/// Gives back a block of allocate_bytes; `bytes` is the size asked for then.
void free_bytes(void* block, std::size_t bytes) noexcept;

struct MemoryStats {
  std::int64_t bytes = 0;         ///< in use by storages
  std::int64_t peak_bytes = 0;    ///< highest `bytes` since start or reset
  std::int64_t cached_bytes = 0;  ///< freed, kept by the heap for reuse
};
MemoryStats memory_stats();
void reset_peak_memory();

}  // namespace eg
