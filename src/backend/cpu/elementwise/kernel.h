#pragma once

// Runs elementwise formulas over the memory of tensors.
//
// A formula becomes one tight loop over packs that knows nothing about shapes.
// `Elementwise::compute_on_cpu` brings operands into that form: operands that are packed in loop
// order are used in place, constants are broadcast to one pack, and everything else (broadcast
// rows, strides, other dtypes, the last partial pack) is copied through tiles that stay in the L1
// cache.

#include <array>
#include <cstdint>
#include <span>

#include "backend/cpu/elementwise/strided.h"

namespace eg::cpu {

/// The arguments of a kernel: pointers to packs, and how far each pointer advances per pack (0 for
/// a constant).
struct KernelArgs {
  std::int64_t packs = 0;
  std::array<const char*, kMaxOperands> in{};
  std::array<std::int64_t, kMaxOperands> step{};
  char* out = nullptr;
  const double* params = nullptr;
};

}  // namespace eg::cpu
