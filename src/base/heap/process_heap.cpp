// compile: small

#include <bit>
#include <cstdint>
#include <cstdlib>

#include "base/heap/heap.h"

#ifdef __EMSCRIPTEN__
#include <unistd.h>
#else
#include <sys/mman.h>
#endif

namespace eg {
namespace {

#ifdef __EMSCRIPTEN__

class SystemArena final : public Arena {
 public:
  std::uintptr_t base() const override { return 0; }
  std::uint32_t max_pages() const override { return std::uint32_t{1} << 19; }
  PageNumber grow(std::uint32_t pages) override {
    const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
    const std::uintptr_t begin = (end + kPageBytes - 1) / kPageBytes * kPageBytes;
    const std::uint64_t bytes = begin - end + std::uint64_t{pages} * kPageBytes;
    constexpr std::uint64_t kLastByte = 0xffffffffU;
    if (end + bytes > kLastByte) return 0;
    // sbrk() interprets its argument as unsigned.
    void* grown = sbrk(static_cast<std::intptr_t>(bytes));
    if (reinterpret_cast<std::uintptr_t>(grown) != end) return 0;
    return static_cast<PageNumber>(begin / kPageBytes);
  }
};

#else

/// Reserves the addresses once; the system commits memory at the first write.
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
  /// Page number 0 means "none".
  std::uint32_t used_ = 1;
};

#endif

constinit SystemArena arena;
constinit Heap heap(arena);

}  // namespace

Heap& process_heap() { return heap; }

}  // namespace eg
