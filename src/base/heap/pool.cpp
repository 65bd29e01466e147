#include "base/heap/pool.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "base/heap/heap.h"

namespace eg {
namespace {

static_assert(kMaxPooledBytes == kMaxSmallBlock);

// A thread that frees what others allocate (an engine worker) must not hoard memory: beyond this
// many free bytes of one size, blocks return to the heap. Enough for the graph of some 50,000
// operations.
constexpr std::size_t kMaxFreeBytes = 8 << 20;
// Blocks move between a list and the heap in batches of about this many bytes.
constexpr std::size_t kBatchBytes = 4 << 10;

struct FreeList {
  FreeBlock* head = nullptr;
  /// How many more blocks the list may hold. A list with no blocks and no room is closed: every
  /// list is closed before this thread's first block of that size, and after the thread has ended.
  std::uint32_t room = 0;
};

// Constant-initialized and without destructors, so they exist as long as the thread runs (objects
// with static lifetime are freed late), and an access needs no initialization check.
thread_local constinit std::array<FreeList, kSmallSizes> lists{};
thread_local constinit bool has_ended = false;

struct AtThreadEnd {
  ~AtThreadEnd() {
    release_pools();
    has_ended = true;
  }
};

constexpr std::size_t bytes_of(std::size_t size) { return (size + 1) * kSmallStep; }

constexpr std::uint32_t blocks_at_once(std::size_t size) {
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(kBatchBytes / bytes_of(size), 8, 64));
}

void push(FreeList& list, void* block) {
  list.head = new (block) FreeBlock{list.head};
  --list.room;
}

void* pop(FreeList& list) {
  FreeBlock* block = list.head;
  list.head = block->next;
  ++list.room;
  return block;
}

/// Opens a closed list; returns false when the thread has ended.
bool open_list(FreeList& list, std::size_t size) noexcept {
  if (has_ended) return false;
  thread_local const AtThreadEnd at_thread_end;
  list.room = static_cast<std::uint32_t>(kMaxFreeBytes / bytes_of(size));
  return true;
}

void* allocate_from_heap(std::size_t size) noexcept {
  FreeList& list = lists[size];
  if (list.room == 0 && !open_list(list, size)) return process_heap().allocate(bytes_of(size));
  std::size_t count = blocks_at_once(size);
  list.head = process_heap().take(size, count);
  if (list.head == nullptr) {
    release_pools();
    return process_heap().allocate(bytes_of(size));
  }
  list.room -= static_cast<std::uint32_t>(count);
  return pop(list);
}

void return_batch_to_heap(FreeList& list, std::size_t size) noexcept {
  FreeBlock* const first = list.head;
  FreeBlock* last = first;
  for (std::uint32_t i = 1; i < blocks_at_once(size); ++i) last = last->next;
  list.head = last->next;
  list.room += blocks_at_once(size);
  last->next = nullptr;
  process_heap().put(first);
}

void free_to_full_list(std::size_t size, void* block) noexcept {
  FreeList& list = lists[size];
  if (list.head != nullptr) {
    return_batch_to_heap(list, size);
  } else if (!open_list(list, size)) {
    return process_heap().free(block, bytes_of(size));
  }
  push(list, block);
}

}  // namespace

void* try_pool_allocate(std::size_t bytes) noexcept {
  if (!kOwnHeap) return std::malloc(bytes);
  if (bytes == 0) bytes = 1;
  if (bytes > kMaxPooledBytes) return process_heap().allocate(bytes);
  const std::size_t size = small_block_size_of(bytes);
  FreeList& list = lists[size];
  return list.head != nullptr ? pop(list) : allocate_from_heap(size);
}

void* pool_allocate(std::size_t bytes) {
  void* block = try_pool_allocate(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void pool_free(void* block, std::size_t bytes) noexcept {
  if (!kOwnHeap) return std::free(block);
  if (bytes == 0) bytes = 1;
  if (bytes > kMaxPooledBytes) return process_heap().free(block, bytes);
  const std::size_t size = small_block_size_of(bytes);
  FreeList& list = lists[size];
  if (list.room == 0) return free_to_full_list(size, block);
  push(list, block);
}

void release_pools() noexcept {
  if (!kOwnHeap) return;
  for (FreeList& list : lists) {
    if (list.head != nullptr) process_heap().put(list.head);
    list = {};
  }
}

}  // namespace eg
