#pragma once

// The kernels of elementwise ops: a formula in a loop over packs (see kernel.h for how they are
// called).

#include <type_traits>
#include <utility>

#include "backend/cpu/elementwise/kernel.h"
#include "backend/cpu/vector/pack.h"
#include "backend/cpu/vector/pack_complex.h"
#include "formulas/elementwise.h"
#include "formulas/forms.h"

namespace eg::cpu {

namespace detail {

/// The pack type that the formulas of an op are evaluated on.
template <class Op, class T>
using PackOf = Pack<T, op::kIsHot<Op> && std::is_same_v<T, float>>;

/// Calls body(parameters). For a hot op with a single choice between two forms, the choice is made
/// here instead of once per pack, so the body is compiled for each form.
template <class Op, class Body>
void with_params(const double* values, Body&& body) {
  if constexpr (op::kIsHot<Op> && op::kParamCount<Op> == 1 && op::kFormCount<Op> == 2) {
    constexpr std::array<double, 2> kChoices{0, 1};
    if (*values == 0)
      body(op::params_from<Op>(&kChoices[0]));
    else
      body(op::params_from<Op>(&kChoices[1]));
  } else {
    body(op::params_from<Op>(values));
  }
}

template <class T, class Pack, std::size_t... I, class Body>
[[gnu::always_inline]] inline void for_each_pack(const KernelArgs& args, std::index_sequence<I...>,
                                                 Body&& body) {
  // Local copies, which stores to `out` cannot alias.
  std::array<const char*, kMaxOperands> in = args.in;
  const std::array<std::int64_t, kMaxOperands> step = args.step;
  char* out = args.out;
  for (std::int64_t left = args.packs; left > 0; --left) {
    const auto value = body(Pack::load(in[I])...);
    if constexpr (requires { value.bits; }) {
      value.store(reinterpret_cast<bool*>(out));
      out += kLanes<T>;
    } else if constexpr (std::is_same_v<decltype(value), const RealPart>) {
      value.store(out);
      out += sizeof(RealPart);
    } else {
      Pack(value).store(out);
      out += sizeof(Pack);
    }
    ((in[I] += step[I]), ...);
  }
}

}  // namespace detail

/// The forward kernel of an op for element type T. Operands are the inputs in order.
template <class Op, class T>
void forward_kernel(const KernelArgs& args) {
  detail::with_params<Op>(args.params, [&](const op::ParamsOf<Op>& p) {
    detail::for_each_pack<T, detail::PackOf<Op, T>>(
        args, std::make_index_sequence<op::kArity<Op>>{},
        [&](auto... x) { return op::forward<Op>(p, x...); });
  });
}

/// True when the op has a real result for complex operands.
template <class Op>
inline constexpr bool kIsRealOfComplex = []<std::size_t... J>(std::index_sequence<J...>) {
  if constexpr (op::kComplexRule<Op> == op::ComplexRule::kNone) {
    return false;
  } else {
    using Value = decltype(op::forward<Op>(
        op::ParamsOf<Op>{}, (static_cast<void>(J), std::declval<Pack<Complex>>())...));
    return std::is_same_v<Value, RealPart>;
  }
}(std::make_index_sequence<op::kArity<Op>>{});

/// The gradient kernel of input I. Operands are the incoming gradient, the inputs and the output;
/// those that the formula does not read may be anything.
template <class Op, std::size_t I, class T>
void gradient_kernel(const KernelArgs& args) {
  using Value = detail::PackOf<Op, T>;
  detail::with_params<Op>(args.params, [&](const op::ParamsOf<Op>& p) {
    detail::for_each_pack<T, Value>(args, std::make_index_sequence<op::kArity<Op> + 2>{},
                                    [&](auto... x) { return Value(op::gradient<Op, I>(p, x...)); });
  });
}

}  // namespace eg::cpu
