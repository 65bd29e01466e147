#pragma once

// The in-place forms of ops that are not elementwise: x.cumsum_(0), x.transpose_(0, 1).
//
// They run the out-of-place op and transfer its result to x: the values and the history. If
// backward may need the previous values of x, the op works on a copy. `Op::in_place` declares a
// form that overwrites the values of x, `Op::in_place_view` one that turns x into the view that is
// the result.

#include <functional>
#include <string_view>

#include "dispatch/function_op.h"
#include "dispatch/overlap.h"

namespace eg {

/// An op as a function of its first argument.
using OfTarget = std::function<Tensor(const Tensor& target)>;

/// Writes compute(target) over `target`, the first of the operands.
Tensor write_result(std::string_view op, std::span<const Tensor> operands, const OfTarget& compute);

/// Gives `target` the geometry and the history of compute(target), which is a view of it.
Tensor become_view(const Tensor& target, const OfTarget& compute);

namespace detail {

template <class T>
void collect_tensors(TensorList& tensors, const T& argument) {
  if constexpr (std::is_same_v<T, Tensor>) tensors.push_back(argument);
  if constexpr (std::is_same_v<T, Operand>) tensors.push_back(argument.tensor());
}

}  // namespace detail

/// Runs the in-place form of `Op`.
template <class Op, class... Args>
Tensor apply_in_place(const Tensor& target, const Args&... args) {
  const OfTarget compute = [&](const Tensor& t) -> Tensor { return Op::call(t, args...); };
  if constexpr (kIsViewInPlace<Op>) {
    return become_view(target, compute);
  } else {
    TensorList operands{target};
    (detail::collect_tensors(operands, args), ...);
    if constexpr (requires { requires Op::reads_apart; }) {
      for (std::size_t i = 1; i < operands.size(); ++i) check_no_overlap(target, operands[i]);
    }
    return write_result(Op::doc.name, operands, compute);
  }
}

}  // namespace eg
