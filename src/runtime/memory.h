#pragma once

// Tensor memory, from the process's heap (base/heap/heap.h); small blocks come from per-thread
// lists without a lock. All of it is counted, so that users and tests can check that memory does
// not grow.

#include <cstddef>
#include <cstdint>

namespace eg {

/// Returns uninitialized memory; throws OutOfMemory with the bytes requested and the bytes in use.
void* allocate_bytes(std::size_t bytes);

/// Frees a block of allocate_bytes; `bytes` is the size that was requested.
void free_bytes(void* block, std::size_t bytes) noexcept;

struct MemoryStats {
  std::int64_t bytes = 0;         ///< bytes used by storages
  std::int64_t peak_bytes = 0;    ///< highest `bytes` since start or reset
  std::int64_t cached_bytes = 0;  ///< free bytes that the heap keeps for reuse
};
MemoryStats memory_stats();
void reset_peak_memory();

}  // namespace eg
