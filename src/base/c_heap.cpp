// In WebAssembly malloc, too, is the heap of heap.h: all of memory is in one hand, and the C
// library's own allocator is no part of the download. What uses it is seldom (threads, exceptions,
// strings for JavaScript), so there is no pool.

#ifdef __EMSCRIPTEN__

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/heap.h"

namespace eg {
namespace {

constexpr std::size_t kAlignment = 16;
constexpr std::size_t kAlignmentOfLarge = 64;

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  return process_heap().allocate_to_stay(std::max<std::size_t>(bytes, 1));
}

void free(void* block) {
  if (block != nullptr) process_heap().free(block);
}

void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  void* block = malloc(bytes);
  return block == nullptr ? nullptr : std::memset(block, 0, bytes);
}

void* realloc(void* block, std::size_t bytes) {
  void* moved = malloc(bytes);
  if (block == nullptr || moved == nullptr) return moved;
  std::memcpy(moved, block, std::min(bytes, process_heap().bytes_of(block)));
  free(block);
  return moved;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (alignment > kPageBytes) return nullptr;
  if (alignment <= kAlignment) return malloc(bytes);
  // Blocks that are not from slabs are whole pages.
  return malloc(
      std::max(bytes, alignment > kAlignmentOfLarge ? kMaxSlabBlock + 1 : kMaxSmallBlock + 1));
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  *block = aligned_alloc(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}

// The names by which Emscripten's and musl's own files call them.
[[gnu::alias("malloc")]] void* emscripten_builtin_malloc(std::size_t bytes);
[[gnu::alias("free")]] void emscripten_builtin_free(void* block);
[[gnu::alias("aligned_alloc")]] void* emscripten_builtin_memalign(std::size_t alignment,
                                                                  std::size_t bytes);
[[gnu::alias("aligned_alloc")]] void* memalign(std::size_t alignment, std::size_t bytes);
[[gnu::alias("malloc")]] void* __libc_malloc(std::size_t bytes);
[[gnu::alias("calloc")]] void* __libc_calloc(std::size_t count, std::size_t size);
[[gnu::alias("free")]] void __libc_free(void* block);
}

}  // namespace eg

#endif
