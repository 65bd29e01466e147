#include "ops/elementwise/overload.h"

#include <limits>

#include "autograd/graph/variable.h"

namespace eg {
namespace {

// Runs one of several ops on the same operands.
using Apply = Tensor (*)(const ElementwiseInfo&, std::span<const Tensor>, const op::ParamValues&);

template <class Op, class... Operands>
Tensor apply_op(Apply apply, const op::ParamsOf<Op>& params, const Operands&... operands) {
  const std::array<Tensor, sizeof...(Operands)> inputs{Operand(operands).tensor()...};
  return apply(elementwise_info<Op>(), inputs, op::param_values<Op>(params));
}

Tensor divide(Apply apply, const Operand& a, const Operand& b, RoundingMode mode) {
  switch (mode) {
    case RoundingMode::kNone:
      break;
    case RoundingMode::kFloor:
      return apply_op<op::FloorDivide>(apply, {}, a, b);
    case RoundingMode::kTrunc:
      return apply_op<op::TruncDivide>(apply, {}, a, b);
  }
  return apply_op<op::Div>(apply, {}, a, b);
}

double number_of(const Operand& limit) {
  return visit_dtype(limit.tensor().dtype(),
                     [&]<class T>() { return static_cast<double>(*limit.tensor().data_as<T>()); });
}

bool is_number(const std::optional<Operand>& limit) {
  return !limit.has_value() || limit->tensor().is_wrapped_number();
}

// The lower limit, whose gradient ends where it does not lie below the upper one.
Operand below(const Operand& min, const std::optional<Operand>& max) {
  if (!max.has_value() || !requires_grad(min.tensor())) return min;
  return call<op::Where>(call<op::Lt>(min, *max), min, detach(min.tensor()));
}

Tensor limit(Apply apply, const Operand& x, const std::optional<Operand>& min,
             const std::optional<Operand>& max) {
  check(min.has_value() || max.has_value(), ErrorCode::kInvalidArgument, "clamp",
        "At least one of 'min' or 'max' must not be null.");
  if (is_number(min) && is_number(max)) {
    op::Clamp::Params numbers;
    if (min.has_value()) numbers.min = number_of(*min);
    if (max.has_value()) numbers.max = number_of(*max);
    return apply_op<op::Clamp>(apply, numbers, x);
  }
  const Operand above =
      min.has_value() ? apply_op<op::ClampMin>(apply, {}, x, below(*min, max)) : x;
  return max.has_value() ? apply_op<op::ClampMax>(apply, {}, above, *max) : above.tensor();
}

// The bits of a bool are one.
Tensor turn_bits(Apply apply, const Operand& x) {
  if (x.tensor().dtype() == DType::kBool)
    return apply_op<op::BitwiseXor>(apply, {}, x, Scalar(true));
  return apply_op<op::BitwiseNot>(apply, {}, x);
}

}  // namespace

Tensor Overload<op::Div>::call(const Operand& input, const Operand& other, RoundingMode mode) {
  return divide(apply_elementwise, input, other, mode);
}
Tensor Overload<op::Div>::call_in_place(const Operand& input, const Operand& other,
                                        RoundingMode mode) {
  return divide(apply_elementwise_in_place, input, other, mode);
}

Tensor Overload<op::Clamp>::call(const Operand& input, const Limit& min, const Limit& max) {
  return limit(apply_elementwise, input, min, max);
}
Tensor Overload<op::Clamp>::call_in_place(const Operand& input, const Limit& min,
                                          const Limit& max) {
  return limit(apply_elementwise_in_place, input, min, max);
}

Tensor Overload<op::BitwiseNot>::call(const Operand& input) {
  return turn_bits(apply_elementwise, input);
}
Tensor Overload<op::BitwiseNot>::call_in_place(const Operand& input) {
  return turn_bits(apply_elementwise_in_place, input);
}

}  // namespace eg
