#pragma once

// Runs elementwise ops on tensors: dtype promotion, broadcasting, allocation, the kernel, and
// recording for backward. Everything specific to an op is in its ElementwiseInfo, derived from the
// declaration at compile time; the rest is non-template code shared by all of them.

#include <array>
#include <complex>
#include <cstdint>
#include <span>

#include "base/scalar.h"
#include "dispatch/var.h"
#include "formulas/elementwise.h"
#include "kernels/elementwise.h"
#include "tensor/tensor.h"

namespace eg {

inline constexpr std::size_t kMaxArity = 3;

/// A tensor, or a plain number used in place of one.
class Operand {
 public:
  Operand(Tensor tensor) : tensor_(std::move(tensor)) {}
  Operand(Scalar scalar);
  Operand(std::complex<double> value);
  Operand(double value) : Operand(Scalar(value)) {}
  Operand(int value) : Operand(Scalar(value)) {}

  const Tensor& tensor() const& { return tensor_; }
  Tensor tensor() && { return std::move(tensor_); }

 private:
  Tensor tensor_;
};

/// The gradient of one input, written in the vocabulary of formulas and evaluated on tensors. It is
/// recorded when grad mode is on.
using TensorFormula = Var (*)(const Var& g, std::span<const Var> inputs, const Var& output,
                              const double* params);

/// Everything derived from the declaration of one elementwise op.
struct ElementwiseInfo {
  std::string_view name;
  std::size_t arity;
  /// The names of the inputs and of the parameters.
  std::span<const std::string_view> operands;
  std::span<const op::Param> params;
  op::DTypeRule dtype_rule;
  op::ComplexRule complex_rule;
  /// The result of complex operands is real.
  bool is_real_of_complex;
  bool first_is_mask;
  op::IntegerRule integer_rule;
  std::string_view refuses_bool;
  bool takes_exact_number;
  /// Used by devices whose kernels are shaders.
  op::ShaderNumbersOf shader_numbers;
  /// By dtype; null where the op has no kernel. bool computes in uint8, complex64 in complex128.
  std::array<kernel::FormulaLoop, kComputedDTypeCount> forward;

  struct Gradient {
    bool exists = false;
    /// Bit i = input i, bit arity = the output.
    std::uint32_t reads = 0;
    /// The gradient is the incoming one, unchanged.
    bool is_identity = false;
    /// Whether the gradient is the incoming one for these parameters; may be null.
    bool (*is_identity_with)(const double* params) = nullptr;
    /// The fused kernel for float32.
    kernel::FormulaLoop kernel = nullptr;
    TensorFormula formula = nullptr;
  };
  std::array<Gradient, kMaxArity> gradients;
};

/// The derived description of an op. Defined in elementwise_info.h, which only the files that
/// instantiate kernels include; all other code links to them.
template <class Op>
const ElementwiseInfo& elementwise_info();

/// Runs a formula: out = formula(inputs...), inputs broadcast to out; a null input is not read.
/// `compute` and `result` are those of kernel::Elementwise.
void run_formula(const kernel::Formula& formula, DType compute, DType result, const Tensor& out,
                 std::span<const Tensor* const> inputs);

/// Runs and records an op; `inputs` has info.arity tensors, `params` op::kMaxParams numbers.
Tensor apply_elementwise(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                         const op::ParamValues& params);

/// The in-place form: the result is written into inputs[0].
Tensor apply_elementwise_in_place(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                                  const op::ParamValues& params);

/// The same two for operands with at least one sparse tensor. Defined in ops/sparse, because they
/// are composed of its ops.
Tensor apply_to_sparse(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                       const op::ParamValues& params);
Tensor apply_to_sparse_in_place(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                                const op::ParamValues& params);

/// call<op::Mul>(a, b): runs and records an op.
template <class Op, class... Operands>
  requires op::Elementwise<Op> && (sizeof...(Operands) == op::kArity<Op>)
Tensor call(const Operands&... operands) {
  const std::array<Tensor, sizeof...(Operands)> inputs{Operand(operands).tensor()...};
  return apply_elementwise(elementwise_info<Op>(), inputs, op::param_values<Op>({}));
}

/// call_with<op::LeakyRelu>({.negative_slope = 0.2}, x).
template <class Op, class... Operands>
  requires op::Elementwise<Op> && (sizeof...(Operands) == op::kArity<Op>)
Tensor call_with(const op::ParamsOf<Op>& params, const Operands&... operands) {
  const std::array<Tensor, sizeof...(Operands)> inputs{Operand(operands).tensor()...};
  return apply_elementwise(elementwise_info<Op>(), inputs, op::param_values<Op>(params));
}

/// call_in_place<op::Add>(x, y): x += y.
template <class Op, class... Operands>
  requires op::Elementwise<Op>
Tensor call_in_place(const Tensor& target, const Operands&... operands) {
  const std::array<Tensor, 1 + sizeof...(Operands)> inputs{target, Operand(operands).tensor()...};
  return apply_elementwise_in_place(elementwise_info<Op>(), inputs, op::param_values<Op>({}));
}

}  // namespace eg
