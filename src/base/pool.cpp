#include "base/pool.h"

#include <array>
#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EG_POOL_OFF 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EG_POOL_OFF 1
#endif
#endif

namespace eg {
namespace {

constexpr std::size_t kGranule = 16;
constexpr std::size_t kClasses = kMaxPooledBytes / kGranule;

// A thread that frees what others allocate (an engine worker) must not hoard: past this much of one
// size the heap gets blocks back. Enough for the graph of some 50,000 operations.
constexpr std::size_t kMaxFreeBytes = 8 << 20;

struct FreeBlock {
  FreeBlock* next;
};

struct FreeList {
  FreeBlock* head = nullptr;
  std::uint32_t count = 0;
};

struct ThreadPools {
  std::array<FreeList, kClasses> lists;
  ~ThreadPools();
};

// Objects with static lifetime may be freed after this thread's lists are gone; trivially
// destructible, so it stays readable for as long as the thread runs.
thread_local bool pools_closed = false;
thread_local ThreadPools pools;

ThreadPools::~ThreadPools() {
  pools_closed = true;
  for (FreeList& list : lists) {
    while (list.head != nullptr) {
      FreeBlock* next = list.head->next;
      ::operator delete(list.head);
      list.head = next;
    }
  }
}

#ifdef EG_POOL_OFF
constexpr bool kPoolOn = false;
#else
constexpr bool kPoolOn = true;
#endif

constexpr std::size_t size_class(std::size_t bytes) {
  return (bytes + kGranule - 1) / kGranule - 1;
}

}  // namespace

void* pool_allocate(std::size_t bytes) {
  if (!kPoolOn || bytes > kMaxPooledBytes || bytes == 0) return ::operator new(bytes);
  const std::size_t index = size_class(bytes);
  if (!pools_closed) {
    FreeList& list = pools.lists[index];
    if (list.head != nullptr) {
      FreeBlock* block = list.head;
      list.head = block->next;
      --list.count;
      return block;
    }
  }
  return ::operator new((index + 1) * kGranule);
}

void pool_free(void* block, std::size_t bytes) noexcept {
  if (!kPoolOn || bytes > kMaxPooledBytes || bytes == 0 || pools_closed) {
    ::operator delete(block);
    return;
  }
  const std::size_t index = size_class(bytes);
  FreeList& list = pools.lists[index];
  if (list.count * (index + 1) * kGranule >= kMaxFreeBytes) {
    ::operator delete(block);
    return;
  }
  list.head = new (block) FreeBlock{list.head};
  ++list.count;
}

}  // namespace eg
