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
// runs on the device that its memory is on. The CPU has every kernel: `compute_on_cpu`, defined in
// the file of backend/cpu that has the struct's topic, is what the result of any device is compared
// with, and what a device falls back to that lacks the kernel. Memory of the CPU beside that of a
// device is a number that the host needs at once (host_number): such a call waits for the device.
//
// Ops check everything first: a kernel trusts its arguments. It does not allocate what it returns,
// and knows neither tensors nor gradients.

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
  const char* place = reinterpret_cast<const char*>(&kernel) + kField.offset;
  if constexpr (is_read_memory(kField.kind)) {
    return !reinterpret_cast<const In*>(place)->view().device.is_cpu();
  } else if constexpr (is_written_memory(kField.kind)) {
    return !reinterpret_cast<const Out*>(place)->view().device.is_cpu();
  } else if constexpr (kField.kind == FieldKind::kOperands) {
    // All are where the first is: a number that joins was brought there.
    return !reinterpret_cast<const Operands*>(place)->front().memory.device.is_cpu();
  } else {
    return false;
  }
}

}  // namespace detail

/// Runs a kernel. The call is made for it: what it holds is not there afterwards.
template <class Kernel>
void run(Kernel&& kernel) {
  static_assert(!std::is_reference_v<Kernel>, "hand it over with std::move");
  const bool is_off_cpu = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return (detail::is_off_cpu<detail::kFields<Kernel>[I]>(kernel) || ...);
  }(std::make_index_sequence<detail::kFields<Kernel>.size()>{});
  if (is_off_cpu || recording() != nullptr) [[unlikely]]
    return run_elsewise(Call(kernel));
  kernel.compute_on_cpu();
}

}  // namespace eg::kernel
