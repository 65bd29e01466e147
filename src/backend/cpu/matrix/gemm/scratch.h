#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "base/checked_int.h"

namespace eg::gemm {

/// Memory a thread keeps for packed blocks: grows to what the largest product on that thread asked
/// for, at most a few MB, and is reused by the next one.
class Scratch {
 public:
  /// Returns room for `count` numbers, aligned to a cache line; ends the life of earlier room.
  template <class T>
  T* take(std::int64_t count) {
    const std::size_t bytes = checked_count(count * static_cast<std::int64_t>(sizeof(T)));
    if (bytes > bytes_) {
      block_.reset();
      bytes_ = 0;
      block_.reset(::operator new(bytes, kAlignment));
      bytes_ = bytes;
    }
    return static_cast<T*>(block_.get());
  }

 private:
  static constexpr std::align_val_t kAlignment{64};

  struct Free {
    void operator()(void* block) const { ::operator delete(block, kAlignment); }
  };

  std::unique_ptr<void, Free> block_;
  std::size_t bytes_ = 0;
};

/// Returns the calling thread's scratch memory.
inline Scratch& thread_scratch() {
  static thread_local Scratch scratch;
  return scratch;
}

}  // namespace eg::gemm
