#pragma once

// An accelerator for tests: it computes on the CPU, but with memory of its own. The addresses that
// tensors have of it are nobody's, so whoever looks into them crashes, and a kernel call that mixes
// its memory with the host's fails.

#include "runtime/device.h"

namespace eg::testing {

inline constexpr Device kTestDevice{DeviceType::kTest, 0};

/// Where the tensors of tests lie that do not say it: the CPU, or with EG_TEST_DEVICE=1 in the
/// environment the test device, on which every test of the engine and of ops has to pass too.
Device default_device();

/// Makes the device lack a kernel for a scope, so that it is computed on the CPU.
class LacksKernel {
 public:
  explicit LacksKernel(const char* name);
  ~LacksKernel();
  LacksKernel(const LacksKernel&) = delete;
  LacksKernel& operator=(const LacksKernel&) = delete;
};

}  // namespace eg::testing
