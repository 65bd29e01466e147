// compile: engine

#include "runtime/memory.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/heap/heap.h"
#include "base/heap/pool.h"
#include "base/sharing.h"
#include "runtime/thread_pool.h"

namespace eg {
namespace {

constexpr std::size_t kAlignment = 64;

// The difference of two addresses in a block must fit into std::ptrdiff_t, which on wasm32 limits a
// block to 2 GiB. In native builds a tensor of more than a terabyte is treated as a mistake too.
constexpr std::size_t kMaxBlockBytes =
    sizeof(void*) == 4 ? std::size_t{PTRDIFF_MAX} : std::size_t{1} << (sizeof(void*) * 5);

// Aligned by its size, as atomic access wants it, also on 32-bit x86.
using Count [[gnu::aligned(sizeof(std::int64_t))]] = std::int64_t;

constinit Count bytes_in_use = 0;
constinit Count peak_bytes = 0;

std::int64_t read(const Count& number) { return __atomic_load_n(&number, __ATOMIC_RELAXED); }

void count(std::int64_t bytes) {
  // Kernels on helpers of the thread pool allocate memory too.
  if (!objects_are_shared() && !in_parallel_region()) {
    bytes_in_use += bytes;
    peak_bytes = std::max(peak_bytes, bytes_in_use);
    return;
  }
  const std::int64_t now = __atomic_add_fetch(&bytes_in_use, bytes, __ATOMIC_RELAXED);
  std::int64_t peak = read(peak_bytes);
  while (now > peak && !__atomic_compare_exchange_n(&peak_bytes, &peak, now, true, __ATOMIC_RELAXED,
                                                    __ATOMIC_RELAXED)) {
  }
}

void* allocate_from_heap(std::size_t bytes) {
  if (!kOwnHeap) {
    return std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  }
  void* block = process_heap().allocate(bytes);
  if (block != nullptr) return block;
  release_pools();
  return process_heap().allocate(bytes);
}

}  // namespace

void* allocate_bytes(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes > kMaxBlockBytes) {
    fail(ErrorCode::kOutOfMemory, "out of memory: ", bytes,
         " bytes requested for one tensor, at most ", kMaxBlockBytes,
         " are possible. Use a smaller batch, or several tensors.");
  }
  void* block = bytes <= kMaxPooledBytes ? try_pool_allocate(bytes) : allocate_from_heap(bytes);
  if (block == nullptr) {
    fail(ErrorCode::kOutOfMemory, "out of memory: ", bytes, " bytes requested, ",
         read(bytes_in_use),
         " bytes in use by tensors. Free tensors with dispose(), `using` or eg.scope(), or use a "
         "smaller batch.");
  }
  count(static_cast<std::int64_t>(bytes));
  return block;
}

void free_bytes(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return;
  count(-static_cast<std::int64_t>(bytes));
  if (bytes <= kMaxPooledBytes) {
    pool_free(block, bytes);
  } else if (kOwnHeap) {
    process_heap().free(block, bytes);
  } else {
    std::free(block);
  }
}

MemoryStats memory_stats() {
  return {read(bytes_in_use), read(peak_bytes),
          static_cast<std::int64_t>(process_heap().stats().free_bytes)};
}

void reset_peak_memory() { __atomic_store_n(&peak_bytes, read(bytes_in_use), __ATOMIC_RELAXED); }

}  // namespace eg
