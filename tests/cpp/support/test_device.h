#pragma once

// An accelerator for tests: it computes on the CPU, but with memory of its own. The addresses that
// tensors have of it are nobody's, so whoever looks into them crashes.
//
// With EG_TEST_DEVICE=1 in the environment it is the default device: tensors of tests that do not
// say where they are lie there, and every test of the engine and of ops has to pass there too.

#include "runtime/device.h"

namespace eg::testing {

inline constexpr Device kTestDevice{DeviceType::kTest, 0};

/// Another default device for a scope.
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

/// Makes the device lack a kernel for a scope, so that it is computed on the CPU.
class LacksKernel {
 public:
  explicit LacksKernel(const char* name);
  ~LacksKernel();
  LacksKernel(const LacksKernel&) = delete;
  LacksKernel& operator=(const LacksKernel&) = delete;
};

}  // namespace eg::testing
