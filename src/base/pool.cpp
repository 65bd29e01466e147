#include "base/pool.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "base/heap.h"

namespace eg {
namespace {

static_assert(kMaxPooledBytes == kMaxSmallBlock);

// A thread that frees what others allocate (an engine worker) must not hoard: past this much of one
// size the heap gets blocks back. Enough for the graph of some 50,000 operations.
constexpr std::size_t kMaxFreeBytes = 8 << 20;
// What the heap gives and gets at once.
constexpr std::size_t kBatchBytes = 4 << 10;

struct FreeList {
  FreeBlock* head = nullptr;
  std::uint32_t count = 0;
};

struct ThreadPools {
  std::array<FreeList, kSmallSizes> lists;
  ~ThreadPools();
};

// Objects with static lifetime may be freed after this thread's lists are gone; trivially
// destructible, so it stays readable for as long as the thread runs.
thread_local bool pools_closed = false;
thread_local ThreadPools pools;

ThreadPools::~ThreadPools() {
  release_pools();
  pools_closed = true;
}

constexpr std::size_t blocks_at_once(std::size_t size) {
  return std::clamp<std::size_t>(kBatchBytes / ((size + 1) * kSmallStep), 8, 64);
}

void* pop(FreeList& list) {
  FreeBlock* block = list.head;
  list.head = block->next;
  --list.count;
  return block;
}

void* refill(std::size_t size) noexcept {
  FreeList& list = pools.lists[size];
  std::size_t count = blocks_at_once(size);
  list.head = process_heap().take(size, count);
  list.count = static_cast<std::uint32_t>(count);
  if (list.head != nullptr) return pop(list);
  release_pools();
  return process_heap().allocate((size + 1) * kSmallStep);
}

void give_back(FreeList& list, std::size_t count) noexcept {
  FreeBlock* const first = list.head;
  FreeBlock* last = first;
  for (std::size_t i = 1; i < count; ++i) last = last->next;
  list.head = last->next;
  list.count -= static_cast<std::uint32_t>(count);
  last->next = nullptr;
  process_heap().put(first);
}

}  // namespace

void* try_pool_allocate(std::size_t bytes) noexcept {
  if (!kOwnHeap) return std::malloc(bytes);
  if (bytes == 0) bytes = 1;
  if (bytes > kMaxPooledBytes || pools_closed) return process_heap().allocate(bytes);
  const std::size_t size = block_size_of(bytes);
  FreeList& list = pools.lists[size];
  return list.head != nullptr ? pop(list) : refill(size);
}

void* pool_allocate(std::size_t bytes) {
  void* block = try_pool_allocate(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void pool_free(void* block, std::size_t bytes) noexcept {
  if (!kOwnHeap) return std::free(block);
  if (bytes == 0) bytes = 1;
  if (bytes > kMaxPooledBytes || pools_closed) return process_heap().free(block, bytes);
  const std::size_t size = block_size_of(bytes);
  FreeList& list = pools.lists[size];
  list.head = new (block) FreeBlock{list.head};
  if (++list.count * (size + 1) * kSmallStep > kMaxFreeBytes) give_back(list, blocks_at_once(size));
}

void release_pools() noexcept {
  if (!kOwnHeap || pools_closed) return;
  for (FreeList& list : pools.lists) {
    if (list.count > 0) give_back(list, list.count);
  }
}

}  // namespace eg
