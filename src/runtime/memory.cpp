#include "runtime/memory.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "base/pool.h"

namespace eg {
namespace {

// Beyond this the cache gives blocks back to the heap: enough for the working set of one training
// step, little enough not to matter beside it.
constexpr std::int64_t kMaxCachedBytes = 256 << 20;
constexpr std::size_t kAlignment = 64;
// Four size classes per power of two waste at most a quarter.
constexpr std::size_t kClassesPerOctave = 4;
constexpr std::size_t kMaxClasses = kClassesPerOctave * 64;

struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};

SizeClass size_class(std::size_t bytes) {
  const std::size_t octave = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;
  const std::size_t step = (std::size_t{1} << octave) / kClassesPerOctave;
  const std::size_t steps = (bytes - (std::size_t{1} << octave) + step - 1) / step;
  return {octave * kClassesPerOctave + steps, (std::size_t{1} << octave) + steps * step};
}

class BlockCache {
 public:
  void* take(const SizeClass& wanted) {
    const std::scoped_lock lock(mutex_);
    auto& blocks = free_[wanted.index];
    if (blocks.empty()) return nullptr;
    void* block = blocks.back();
    blocks.pop_back();
    cached_bytes_ -= static_cast<std::int64_t>(wanted.bytes);
    return block;
  }

  bool put(void* block, const SizeClass& size) noexcept {
    const std::scoped_lock lock(mutex_);
    if (cached_bytes_ + static_cast<std::int64_t>(size.bytes) > kMaxCachedBytes) return false;
    try {
      free_[size.index].push_back(block);
    } catch (const std::bad_alloc&) {
      return false;
    }
    cached_bytes_ += static_cast<std::int64_t>(size.bytes);
    return true;
  }

  void clear() noexcept {
    const std::scoped_lock lock(mutex_);
    for (auto& blocks : free_) {
      for (void* block : blocks) std::free(block);
      blocks.clear();
    }
    cached_bytes_ = 0;
  }

  std::int64_t cached_bytes() {
    const std::scoped_lock lock(mutex_);
    return cached_bytes_;
  }

 private:
  std::mutex mutex_;
  std::int64_t cached_bytes_ = 0;
  std::array<std::vector<void*>, kMaxClasses> free_;
};

// Never destroyed: tensors with static lifetime may be freed after any destructor here.
BlockCache& cache() {
  static auto* const instance = new BlockCache;
  return *instance;
}

std::atomic<std::int64_t> bytes_in_use{0};
std::atomic<std::int64_t> peak_bytes{0};

void count(std::int64_t bytes) {
  const std::int64_t now = bytes_in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void* allocate_from_heap(std::size_t bytes) {
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* block = std::aligned_alloc(kAlignment, rounded);
  if (block == nullptr) {
    release_cached_memory();
    block = std::aligned_alloc(kAlignment, rounded);
  }
  return block;
}

// The heap of wasm32 ends at 4 GiB; natively a single tensor beyond this is a mistake too.
constexpr std::size_t kMaxBlockBytes =
    sizeof(void*) == 4 ? (std::size_t{1} << 31) : (std::size_t{1} << 40);

}  // namespace

void* allocate_bytes(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* block = nullptr;
  if (bytes <= kMaxPooledBytes) {
    block = pool_allocate(bytes);
  } else if (bytes <= kMaxBlockBytes) {
    const SizeClass size = size_class(bytes);
    block = cache().take(size);
    if (block == nullptr) block = allocate_from_heap(size.bytes);
  }
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
  } else if (!cache().put(block, size_class(bytes))) {
    std::free(block);
  }
}

void release_cached_memory() noexcept { cache().clear(); }

MemoryStats memory_stats() {
  return {bytes_in_use.load(), peak_bytes.load(), cache().cached_bytes()};
}

void reset_peak_memory() { peak_bytes = bytes_in_use.load(); }

}  // namespace eg
