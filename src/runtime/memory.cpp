#include "runtime/memory.h"

#include <atomic>
#include <cstdlib>

#include "base/error.h"
#include "base/heap.h"
#include "base/pool.h"

namespace eg {
namespace {

constexpr std::size_t kAlignment = 64;

// A difference of two addresses in a block has to fit std::ptrdiff_t, which on wasm32 ends at 2
// GiB; natively a tensor of a terabyte is a mistake too.
constexpr std::size_t kMaxBlockBytes =
    sizeof(void*) == 4 ? std::size_t{PTRDIFF_MAX} : std::size_t{1} << (sizeof(void*) * 5);

std::atomic<std::int64_t> bytes_in_use{0};
std::atomic<std::int64_t> peak_bytes{0};

void count(std::int64_t bytes) {
  const std::int64_t now = bytes_in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
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
    fail(ErrorCode::kOutOfMemory, "out of memory: ", bytes, " bytes wanted in one piece, at most ",
         kMaxBlockBytes, " can be. Use a smaller batch, or several tensors.");
  }
  void* block = bytes <= kMaxPooledBytes ? try_pool_allocate(bytes) : allocate_from_heap(bytes);
  if (block == nullptr) {
    fail(ErrorCode::kOutOfMemory, "out of memory: ", bytes, " bytes wanted, ", bytes_in_use.load(),
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
  return {bytes_in_use.load(), peak_bytes.load(),
          static_cast<std::int64_t>(process_heap().stats().free_bytes)};
}

void reset_peak_memory() { peak_bytes = bytes_in_use.load(); }

}  // namespace eg
