#pragma once

// The primitives that a device implements.
//
// A kernel is a primitive that computes memory from memory: a struct in this folder that consists
// of plain numbers and memory views only. A call of a kernel is a value of that struct, so
// everything that is done with calls (finding the device, copying to another device, naming them in
// a profile) is implemented once for all kernels:
//
//   run(kernel::Softmax{kind, rows, x.memory(), y.memory()});
//
// runs on the device that holds its memory. The CPU has every kernel. Its implementation,
// `compute_on_cpu` in the file of backend/cpu for the struct's topic, is the reference for the
// results of all devices and the fallback for devices that lack the kernel. When a call combines
// CPU memory with memory of a device, the CPU memory is a number that the host needs immediately
// (host_number), and the call waits for the device.
//
// Ops check everything first: a kernel trusts its arguments. It does not allocate its results, and
// it is independent of tensors and gradients.

#include <cstddef>
#include <type_traits>
#include <utility>

#include "base/type_list.h"
#include "kernels/call.h"
#include "kernels/memory.h"
#include "runtime/recorded_thread.h"

namespace eg::kernel {

namespace detail {

template <Field kField, class Kernel>
bool is_off_cpu(const Kernel& kernel) {
  const char* field = reinterpret_cast<const char*>(&kernel) + kField.offset;
  if constexpr (is_read_memory(kField.kind)) {
    return !reinterpret_cast<const In*>(field)->view().device.is_cpu();
  } else if constexpr (is_written_memory(kField.kind)) {
    return !reinterpret_cast<const Out*>(field)->view().device.is_cpu();
  } else if constexpr (kField.kind == FieldKind::kOperands) {
    // All operands are on the first one's device: scalars were moved there.
    return !reinterpret_cast<const Operands*>(field)->front().memory.device.is_cpu();
  } else {
    return false;
  }
}

}  // namespace detail

/// Runs a kernel. Consumes the call: its views may have been replaced afterwards.
template <class Kernel>
void run(Kernel&& kernel) {
  static_assert(!std::is_reference_v<Kernel>, "pass an rvalue, for instance with std::move");
  const bool is_off_cpu = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return (detail::is_off_cpu<detail::kFields<Kernel>[I]>(kernel) || ...);
  }(std::make_index_sequence<detail::kFields<Kernel>.size()>{});
  if (is_off_cpu || recording() != nullptr) [[unlikely]]
    return run_slow_path(Call(kernel));
  kernel.compute_on_cpu();
}

}  // namespace eg::kernel
