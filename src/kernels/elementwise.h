#pragma once

// An elementwise formula over operands of one shape.

#include <array>
#include <string_view>

#include "formulas/shader_numbers.h"
#include "kernels/operand.h"

namespace eg::cpu {
struct KernelArgs;
}

namespace eg::kernel {

/// Which formula: that of an op's value, or of the gradient of one of its inputs.
struct Formula {
  static constexpr int kForward = -1;

  std::string_view op;
  /// The input whose gradient it is, or kForward.
  int gradient_of = kForward;
  /// The formula in a loop, for the CPU (backend/cpu/elementwise/kernel.h).
  void (*on_cpu)(const cpu::KernelArgs&) = nullptr;
  /// What a shader of it is told; null where there is none.
  op::ShaderNumbersOf shader_numbers = nullptr;
  op::ParamValues params{};
};

struct Elementwise {
  static constexpr std::string_view name = "elementwise";
  Formula formula;
  /// The dtype that the formula is computed in, and the one that comes out (bool of comparisons).
  DType compute;
  DType result;
  Shape shape;
  /// What the formula does not read may be any memory.
  Operands operands;

  /// Merges dimensions of the shape and the operands for good.
  void compute_on_cpu();
};

using ElementwiseKernels = TypeList<Elementwise>;

}  // namespace eg::kernel
