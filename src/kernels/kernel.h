#pragma once

// What a device must be able to do.
//
// A kernel is a primitive that computes memory from memory: a struct in this folder, of plain
// numbers and of views of memory, and nothing else. A call of a kernel is a value of that struct,
// so all that happens to calls (finding the device, copying to another one, naming them in a
// profile) is written once for all kernels and not once for each:
//
//   run(kernel::Softmax{kind, rows, x.memory(), y.memory()});
//
// runs on the device of its `Out`. The CPU has every kernel: `compute_on_cpu`, defined in the file
// of backend/cpu that has the struct's topic, is what the result of any device is compared with.
//
// Ops check everything first: a kernel trusts its arguments. It does not allocate what it returns,
// and knows neither tensors nor gradients.

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
  MemoryView view() const { return memory_; }

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
  MemoryView view() const { return memory_; }

 private:
  MemoryView memory_;
};

/// A number of the caller's, for a kernel whose result the host needs at once.
inline Out host_number(std::int64_t& number) { return MemoryView{&number, 0, DType::kInt64, {}}; }
inline Out host_number(double& number) { return MemoryView{&number, 0, DType::kFloat64, {}}; }

/// Runs a kernel. The call is made for it: what it holds is not there afterwards.
template <class Kernel>
void run(Kernel&& kernel) {
  kernel.compute_on_cpu();
}

}  // namespace eg::kernel
