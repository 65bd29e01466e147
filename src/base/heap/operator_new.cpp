// In WebAssembly every `new` uses the heap of heap.h: memory that containers needed at a peak is
// available to tensors afterwards, and small objects take no lock. Native builds use the C
// library's operator new.

#ifdef __EMSCRIPTEN__

#include <new>

#include "base/heap/heap.h"
#include "base/heap/pool.h"

void* operator new(std::size_t bytes) {
  if (bytes <= eg::kMaxPooledBytes) return eg::pool_allocate(bytes);
  void* block = eg::process_heap().allocate_long_lived(bytes);
  if (block == nullptr) {
    eg::release_pools();
    block = eg::process_heap().allocate_long_lived(bytes);
  }
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void operator delete(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return;
  if (bytes <= eg::kMaxPooledBytes) return eg::pool_free(block, bytes);
  eg::process_heap().free(block, bytes);
}

void operator delete(void* block) noexcept {
  if (block == nullptr) return;
  const std::size_t bytes = eg::process_heap().pooled_bytes(block);
  if (bytes != 0) return eg::pool_free(block, bytes);
  eg::process_heap().free(block);
}

#endif
