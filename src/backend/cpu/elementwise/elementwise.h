#pragma once

// The kernels of elementwise ops: a formula in a loop over packs (see kernel.h for who calls them).

#include <type_traits>
#include <utility>

#include "backend/cpu/elementwise/kernel.h"
#include "backend/cpu/vector/pack.h"
#include "backend/cpu/vector/pack_complex.h"
#include "formulas/elementwise.h"

namespace eg::cpu {

namespace detail {

template <class T, std::size_t... I, class Body>
void for_each_pack(const KernelArgs& args, std::index_sequence<I...>, Body&& body) {
  std::array<const char*, kMaxOperands> in = args.in;
  char* out = args.out;
  for (std::int64_t i = 0; i < args.packs; ++i) {
    const auto value = body(Pack<T>::load(in[I])...);
    if constexpr (requires { value.bits; }) {
      value.store(reinterpret_cast<bool*>(out));
      out += kLanes<T>;
    } else if constexpr (std::is_same_v<decltype(value), const RealPart>) {
      value.store(out);
      out += sizeof(RealPart);
    } else {
      Pack<T>(value).store(out);
      out += sizeof(Pack<T>);
    }
    ((in[I] += args.step[I]), ...);
  }
}

}  // namespace detail

/// The forward kernel of an op for element type T; inputs in order.
template <class Op, class T>
void forward_kernel(const KernelArgs& args) {
  const op::ParamsOf<Op> p = op::params_from<Op>(args.params);
  detail::for_each_pack<T>(args, std::make_index_sequence<op::kArity<Op>>{},
                           [&](auto... x) { return op::forward<Op>(p, x...); });
}

/// True when complex operands give a real result.
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

/// The gradient kernel of input I; operands are the incoming gradient, the inputs and the output,
/// of which those the formula does not read may be anything.
template <class Op, std::size_t I, class T>
void gradient_kernel(const KernelArgs& args) {
  const op::ParamsOf<Op> p = op::params_from<Op>(args.params);
  detail::for_each_pack<T>(args, std::make_index_sequence<op::kArity<Op> + 2>{},
                           [&](auto... x) { return Pack<T>(op::gradient<Op, I>(p, x...)); });
}

}  // namespace eg::cpu
