#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "runtime/device.h"

namespace eg {

/// Where elements lie and what they are. Owns nothing. Only kernels look into it.
struct MemoryView {
  /// A storage's data(): an address on the CPU, and elsewhere what the device knows its block by.
  void* base = nullptr;
  std::int64_t offset = 0;  ///< in bytes
  DType dtype = DType::kFloat32;
  Device device;
  bool is_host_number = false;  ///< see kernel::host_number()

  /// On the CPU.
  void* address() const { return static_cast<char*>(base) + offset; }
};

}  // namespace eg
