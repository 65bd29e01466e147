#pragma once

#include "base/dtype.h"
#include "runtime/device.h"

namespace eg {

/// Where elements lie: a device, an address that means something there, and what is stored. Owns
/// nothing. Only kernels look at the address.
struct MemoryView {
  void* address = nullptr;
  DType dtype = DType::kFloat32;
  Device device;
};

}  // namespace eg
