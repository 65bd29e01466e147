#include <bit>
#include <cstdint>
#include <cstdlib>

#include "base/heap.h"

#ifndef __EMSCRIPTEN__
#include <sys/mman.h>
#endif

namespace eg {
namespace {

#ifdef __EMSCRIPTEN__

// The linker sends malloc to the heap below (--wrap), so that all of memory is in one hand.
extern "C" void* __real_sbrk(std::intptr_t bytes);

class SystemArena final : public Arena {
 public:
  std::uintptr_t base() const override { return 0; }
  std::uint32_t max_pages() const override { return std::uint32_t{1} << 19; }
  PageNumber grow(std::uint32_t pages) override {
    const auto end = reinterpret_cast<std::uintptr_t>(__real_sbrk(0));
    const std::uintptr_t begin = (end + kPageBytes - 1) / kPageBytes * kPageBytes;
    const std::uint64_t bytes = begin - end + std::uint64_t{pages} * kPageBytes;
    constexpr std::uint64_t kLastByte = 0xffffffffU;
    if (end + bytes > kLastByte) return 0;
    // sbrk() takes it for unsigned.
    void* grown = __real_sbrk(static_cast<std::intptr_t>(bytes));
    if (reinterpret_cast<std::uintptr_t>(grown) != end) return 0;
    return static_cast<PageNumber>(begin / kPageBytes);
  }
};

#else

/// Addresses are reserved once; memory comes when it is written to.
class SystemArena final : public Arena {
 public:
  std::uintptr_t base() const override { return reinterpret_cast<std::uintptr_t>(reserved()); }
  std::uint32_t max_pages() const override { return kPages; }
  PageNumber grow(std::uint32_t pages) override {
    if (reserved() == nullptr || pages > kPages - used_) return 0;
    const PageNumber first = used_;
    used_ += pages;
    return first;
  }

 private:
  static constexpr std::uint32_t kPages = std::uint32_t{1} << (sizeof(void*) == 8 ? 22 : 17);
  static void* reserved() {
    static void* const memory = [] {
      void* at = mmap(nullptr, std::size_t{kPages} * kPageBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      return at == MAP_FAILED ? nullptr : at;
    }();
    return memory;
  }
  /// Number 0 is none.
  std::uint32_t used_ = 1;
};

#endif

constinit SystemArena arena;
constinit Heap heap(arena);

}  // namespace

Heap& process_heap() { return heap; }

#ifdef __EMSCRIPTEN__

/// What malloc asks for more memory. It may get it anywhere: having no end at first tells it so.
extern "C" void* __wrap_sbrk(std::intptr_t bytes) {
  static char* end = nullptr;
  void* const none = std::bit_cast<void*>(std::intptr_t{-1});
  if (bytes == 0) return end == nullptr ? none : end;
  void* block = heap.allocate_to_stay(static_cast<std::size_t>(bytes));
  if (block == nullptr) return none;
  end = static_cast<char*>(block) + bytes;
  return block;
}

#endif

}  // namespace eg
