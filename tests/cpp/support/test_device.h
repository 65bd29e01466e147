#pragma once

// An accelerator for tests: it computes on the CPU, but with separate memory. The addresses of its
// blocks are invalid, so code that dereferences one crashes.
//
// With EG_TEST_DEVICE=1 in the environment it is the default device: tensors in tests are on it
// unless the test chooses a device, and every test of the engine and of ops has to pass on it too.

#include "runtime/device.h"

namespace eg::testing {

inline constexpr Device kTestDevice{DeviceType::kTest, 0};

/// Changes the default device for a scope.
class DefaultDeviceGuard {
 public:
  explicit DefaultDeviceGuard(Device device) : before_(default_device()) {
    set_default_device(device);
  }
  ~DefaultDeviceGuard() { set_default_device(before_); }
  DefaultDeviceGuard(const DefaultDeviceGuard&) = delete;
  DefaultDeviceGuard& operator=(const DefaultDeviceGuard&) = delete;

 private:
  Device before_;
};

/// Removes a kernel from the device for a scope, so that the CPU computes it.
class LacksKernel {
 public:
  explicit LacksKernel(const char* name);
  ~LacksKernel();
  LacksKernel(const LacksKernel&) = delete;
  LacksKernel& operator=(const LacksKernel&) = delete;
};

}  // namespace eg::testing
