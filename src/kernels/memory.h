#pragma once

// The types of memory arguments in kernel structs.

#include <cstdint>

#include "runtime/memory_view.h"

namespace eg::kernel {

/// Memory that a kernel reads.
class In {
 public:
  In(MemoryView memory) : memory_(memory) {}

  DType dtype() const { return memory_.dtype; }
  /// The elements, for CPU kernels.
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

/// Memory that a kernel writes.
class Out {
 public:
  Out(MemoryView memory) : memory_(memory) {}

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

/// Memory that a kernel reads; may be absent.
class OptionalIn : public In {
 public:
  OptionalIn() : In(MemoryView()) {}
  OptionalIn(MemoryView memory) : In(memory) {}
  OptionalIn(const In& memory) : In(memory) {}

  explicit operator bool() const { return view().base != nullptr; }
};

/// Memory for a result; absent when the caller does not need it.
class OptionalOut : public Out {
 public:
  OptionalOut() : Out(MemoryView()) {}
  OptionalOut(MemoryView memory) : Out(memory) {}
  OptionalOut(const Out& memory) : Out(memory) {}

  explicit operator bool() const { return view().base != nullptr; }
};

/// Wraps a variable of the caller as the output of a kernel whose result the host needs
/// immediately.
inline Out host_number(std::int64_t& number) {
  return MemoryView{&number, 0, DType::kInt64, {}, true};
}
inline Out host_number(double& number) { return MemoryView{&number, 0, DType::kFloat64, {}, true}; }

}  // namespace eg::kernel
