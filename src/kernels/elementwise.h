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

/// The CPU's loop over a formula (backend/cpu/elementwise/kernel.h).
using FormulaLoop = void (*)(const cpu::KernelArgs&);

/// Identifies a formula: the value of an op, or the gradient of one of its inputs.
struct Formula {
  static constexpr int kForward = -1;

  std::string_view op;
  /// The input whose gradient it is, or kForward.
  int gradient_of = kForward;
  FormulaLoop on_cpu = nullptr;
  /// Computes the constants of the formula's shader; null when it has no shader.
  op::ShaderNumbersOf shader_numbers = nullptr;
  op::ParamValues params{};
};

/// An op of elements: its formula, for every element of the broadcast operands.
struct Elementwise {
  static constexpr std::string_view name = "elementwise";
  Formula formula;
  /// The dtype in which the formula is computed, and the dtype of its result (bool for
  /// comparisons).
  DType compute;
  DType result;
  Shape shape;
  /// Operands that the formula does not read may be arbitrary memory.
  Operands operands;

  /// Merges dimensions of `shape` and `operands` in place.
  void compute_on_cpu();
};

using ElementwiseKernels = TypeList<Elementwise>;

}  // namespace eg::kernel
