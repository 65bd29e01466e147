#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "base/checked_int.h"

namespace eg::gemm {

/// Memory that a thread retains for packed blocks. It grows to what the largest product on that
/// thread needed, at most a few MB, and is reused by the next one.
class Scratch {
 public:
  /// Returns memory for `count` elements, aligned to a cache line. Invalidates memory returned
  /// earlier.
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
