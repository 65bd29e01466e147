#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "runtime/device.h"

namespace eg {

/// The location and type of elements. Owns nothing; only kernels dereference it.
struct MemoryView {
  /// A storage's data(): an address on the CPU; on another device, the identifier of the block.
  void* base = nullptr;
  std::int64_t offset = 0;  ///< in bytes
  DType dtype = DType::kFloat32;
  Device device;
  bool is_host_number = false;  ///< see kernel::host_number()

  /// The address of the first element; only on the CPU.
  void* address() const { return static_cast<char*>(base) + offset; }
};

}  // namespace eg
