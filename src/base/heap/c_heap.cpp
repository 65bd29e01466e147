// compile: small

// In WebAssembly malloc uses the heap of heap.h too: one allocator manages all memory, and the C
// library's own is not part of the download. Its callers are rare (threads, exceptions, strings for
// JavaScript), so it uses no pool.

#ifdef __EMSCRIPTEN__

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/heap/heap.h"
#include "base/thread.h"

#if EG_THREADS
#include <pthread.h>
#endif

namespace eg {
namespace {

constexpr std::size_t kAlignment = 16;
constexpr std::size_t kAlignmentOfLarge = 64;

#if EG_THREADS

// A thread's block holds, besides its stack and its thread-local variables, pthread's own record
// and the pointers of pthread_setspecific: 1.5 kB.
constexpr std::size_t kThreadRecord = 4096;

constinit thread_local void* block_of_next_thread = nullptr;

std::size_t thread_block_bytes() {
  pthread_attr_t defaults;
  std::size_t stack = 0;
  pthread_attr_init(&defaults);
  pthread_attr_getstacksize(&defaults, &stack);
  return stack + __builtin_wasm_tls_size() + kThreadRecord;
}

#endif

}  // namespace

#if EG_THREADS

ThreadMemory::ThreadMemory(const char* caller) {
  const std::size_t bytes = thread_block_bytes();
  block_of_next_thread = std::malloc(bytes);
  check(block_of_next_thread != nullptr, ErrorCode::kOutOfMemory, caller, "a thread needs ", bytes,
        " contiguous bytes, more than are free. Free unused tensors with dispose() or eg.scope().");
}

ThreadMemory::~ThreadMemory() { std::free(std::exchange(block_of_next_thread, nullptr)); }

#endif

extern "C" {

void* malloc(std::size_t bytes) {
  return process_heap().allocate_long_lived(std::max<std::size_t>(bytes, 1));
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
  // Blocks outside slabs start on a page boundary.
  return malloc(
      std::max(bytes, alignment > kAlignmentOfLarge ? kMaxSlabBlock + 1 : kMaxSmallBlock + 1));
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  *block = aligned_alloc(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}

// The names by which Emscripten's and musl's own code calls these functions.
#if EG_THREADS
// pthread_create allocates the block of a thread here, and nothing else of that size.
void* emscripten_builtin_malloc(std::size_t bytes) {
  if (block_of_next_thread != nullptr && bytes > kMaxSlabBlock)
    return std::exchange(block_of_next_thread, nullptr);
  return malloc(bytes);
}
#else
[[gnu::alias("malloc")]] void* emscripten_builtin_malloc(std::size_t bytes);
#endif
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
