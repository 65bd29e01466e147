#pragma once

// An accelerator for tests: it computes on the CPU, but with memory of its own. The addresses that
// tensors have of it are nobody's, so whoever looks into them crashes, and a kernel call that mixes
// its memory with the host's fails.
//
// With EG_TEST_DEVICE=1 in the environment it is the default device: tensors of tests that do not
// say where they are lie there, and every test of the engine and of ops has to pass there too.

#include "runtime/device.h"

namespace eg::testing {

inline constexpr Device kTestDevice{DeviceType::kTest, 0};

/// Makes the device lack a kernel for a scope, so that it is computed on the CPU.
class LacksKernel {
 public:
  explicit LacksKernel(const char* name);
  ~LacksKernel();
  LacksKernel(const LacksKernel&) = delete;
  LacksKernel& operator=(const LacksKernel&) = delete;
};

}  // namespace eg::testing
