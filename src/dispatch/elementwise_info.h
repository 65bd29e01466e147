#pragma once

// Derives an op's ElementwiseInfo from its declaration, which instantiates its kernels. Included
// only by ops/elementwise/kernels_*.cpp, one per family of ops, so that each kernel is compiled
// once.

#include "backend/cpu/elementwise/elementwise.h"
#include "base/type_list.h"
#include "dispatch/elementwise.h"

namespace eg {

namespace detail {

template <class Op>
constexpr bool first_is_mask() {
  if constexpr (requires { Op::first_is_mask; })
    return Op::first_is_mask;
  else
    return false;
}

template <class Op, std::size_t I>
Var tensor_formula(const Var& g, std::span<const Var> inputs, const Var& output,
                   const double* params) {
  const op::ParamsOf<Op> p = op::params_from<Op>(params);
  return [&]<std::size_t... J>(std::index_sequence<J...>) {
    return Var(op::gradient<Op, I>(p, g, inputs[J]..., output));
  }(std::make_index_sequence<op::kArity<Op>>{});
}

template <class Op, std::size_t I>
constexpr auto identity_condition() -> bool (*)(const double*) {
  if constexpr (I == 1 && requires { Op::grad_b_is_identity; }) {
    return [](const double* params) { return Op::grad_b_is_identity(op::params_from<Op>(params)); };
  } else {
    return nullptr;
  }
}

template <class Op, std::size_t I>
constexpr ElementwiseInfo::Gradient gradient_info() {
  if constexpr (!op::kHasGradient<Op, I>) {
    return {};
  } else {
    constexpr op::Probe probe = op::kGradientProbe<Op, I>;
    return {true,
            probe.reads,
            probe.is_gradient,
            identity_condition<Op, I>(),
            probe.is_gradient ? nullptr : cpu::gradient_kernel<Op, I, float>,
            tensor_formula<Op, I>};
  }
}

template <class Op>
constexpr std::array<kernel::FormulaLoop, kComputedDTypeCount> forward_kernels() {
  std::array<kernel::FormulaLoop, kComputedDTypeCount> kernels{};
  const auto set = [&](DType dtype, kernel::FormulaLoop kernel) {
    kernels[static_cast<std::size_t>(dtype)] = kernel;
  };
  if constexpr (op::kDTypeRule<Op> != op::DTypeRule::kInteger) {
    set(DType::kFloat32, cpu::forward_kernel<Op, float>);
    set(DType::kFloat64, cpu::forward_kernel<Op, double>);
  }
  if constexpr (op::kDTypeRule<Op> != op::DTypeRule::kFloat) {
    set(DType::kInt32, cpu::forward_kernel<Op, std::int32_t>);
    set(DType::kInt64, cpu::forward_kernel<Op, std::int64_t>);
    set(DType::kUInt8, cpu::forward_kernel<Op, std::uint8_t>);
    if constexpr (op::kTakesBool<Op>) set(DType::kBool, cpu::forward_kernel<Op, std::uint8_t>);
  }
  if constexpr (op::kComplexRule<Op> != op::ComplexRule::kNone) {
    set(DType::kComplex64, cpu::forward_kernel<Op, cpu::Complex>);
    set(DType::kComplex128, cpu::forward_kernel<Op, cpu::Complex>);
  }
  return kernels;
}

}  // namespace detail

template <class Op>
const ElementwiseInfo& elementwise_info() {
  static_assert(op::Elementwise<Op>, "an elementwise op needs doc, forward and described params");
  static constexpr ElementwiseInfo info{
      Op::doc.name,
      op::kArity<Op>,
      op::kOperandNames<Op>,
      op::kParams<Op>,
      op::kDTypeRule<Op>,
      op::kComplexRule<Op>,
      cpu::kIsRealOfComplex<Op>,
      detail::first_is_mask<Op>(),
      op::kIntegerRule<Op>,
      op::kRefusesBool<Op>,
      op::kTakesExactNumber<Op>,
      op::shader_numbers<Op>,
      detail::forward_kernels<Op>(),
      {detail::gradient_info<Op, 0>(), detail::gradient_info<Op, 1>(),
       detail::gradient_info<Op, 2>()},
  };
  return info;
}

/// Instantiates the infos of a family of ops in this object file.
template <class... Ops>
constexpr auto instantiate(TypeList<Ops...>) {
  return std::array<const ElementwiseInfo& (*)(), sizeof...(Ops)>{&elementwise_info<Ops>...};
}

}  // namespace eg
