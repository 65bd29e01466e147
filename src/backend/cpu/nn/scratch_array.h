#pragma once

#include <cstdint>

#include "base/checked_int.h"
#include "runtime/memory.h"

namespace eg::cpu {

/// Heap memory for `count` elements, freed at the end of a kernel.
template <class T>
class ScratchArray {
 public:
  explicit ScratchArray(std::int64_t count)
      : bytes_(checked_count(count * static_cast<std::int64_t>(sizeof(T)))),
        block_(bytes_ == 0 ? nullptr : allocate_bytes(bytes_)) {}
  ScratchArray(const ScratchArray&) = delete;
  ScratchArray& operator=(const ScratchArray&) = delete;
  ~ScratchArray() {
    if (block_ != nullptr) free_bytes(block_, bytes_);
  }

  T* data() const { return static_cast<T*>(block_); }

 private:
  std::size_t bytes_;
  void* block_;
};

}  // namespace eg::cpu
