#pragma once

// Memory as the arguments of kernels.

#include <cstdint>

#include "runtime/memory_view.h"

namespace eg::kernel {

/// Memory that a kernel reads; false where the caller has none to give.
class In {
 public:
  In() = default;
  In(MemoryView memory) : memory_(memory) {}

  explicit operator bool() const { return memory_.base != nullptr; }
  DType dtype() const { return memory_.dtype; }
  /// The elements, for the kernel of the CPU.
  template <class T>
  const T* as() const {
    return static_cast<const T*>(memory_.address());
  }
  const void* bytes() const { return memory_.address(); }
  const MemoryView& view() const { return memory_; }
  MemoryView& view() { return memory_; }

 private:
  MemoryView memory_;
};

/// Memory that a kernel writes; false where the caller does not want that result.
class Out {
 public:
  Out() = default;
  Out(MemoryView memory) : memory_(memory) {}

  explicit operator bool() const { return memory_.base != nullptr; }
  DType dtype() const { return memory_.dtype; }
  template <class T>
  T* as() const {
    return static_cast<T*>(memory_.address());
  }
  void* bytes() const { return memory_.address(); }
  const MemoryView& view() const { return memory_; }
  MemoryView& view() { return memory_; }

 private:
  MemoryView memory_;
};

/// A number of the caller's, for a kernel whose result the host needs at once.
inline Out host_number(std::int64_t& number) {
  return MemoryView{&number, 0, DType::kInt64, {}, true};
}
inline Out host_number(double& number) { return MemoryView{&number, 0, DType::kFloat64, {}, true}; }

}  // namespace eg::kernel
