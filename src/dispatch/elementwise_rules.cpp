// compile: engine

#include "dispatch/elementwise_rules.h"

#include <algorithm>
#include <cmath>

#include "autograd/tensor_math.h"
#include "base/warning.h"
#include "dispatch/factories.h"
#include "dispatch/precision.h"
#include "dispatch/promotion.h"
#include "dispatch/transfer.h"

namespace eg {
namespace {

// The dtype of an op on integers with limits, which are numbers that take part in promotion.
DType promote_limits(const ElementwiseInfo& info, DType integers, const op::ParamValues& values) {
  DType result = integers;
  for (std::size_t i = 0; i < info.params.size(); ++i) {
    // An infinite limit means no limit.
    if (info.params[i].role != op::Param::Role::kLimit || std::isinf(values[i])) continue;
    if (std::trunc(values[i]) != values[i]) return default_dtype();
    if (integers == DType::kBool) result = DType::kInt64;
  }
  return result;
}

// Converts the operands to the dtype of the first, for ops whose result has it. Masks are not
// converted.
SmallVector<Tensor, kMaxArity> in_first_dtype(const ElementwiseInfo& info,
                                              std::span<const Tensor> inputs) {
  const DType first = inputs[0].dtype();
  SmallVector<Tensor, kMaxArity> converted(inputs.begin(), inputs.end());
  for (Tensor& input : converted) {
    if (input.dtype() == DType::kBool) continue;
    input = as_element(input, first);
    check(is_complex(first) || !is_complex(input.dtype()), ErrorCode::kDtypeMismatch, info.name,
          "cannot convert an operand from ", input.dtype(), " to the dtype of the first, ", first,
          '.');
    input = math::cast(input, first);
  }
  return converted;
}

// The operands that take part in promotion.
std::span<const Tensor> promoted(const ElementwiseInfo& info, std::span<const Tensor> inputs) {
  return inputs.subspan(info.first_is_mask ? 1 : 0);
}

// Converts the operands to the stored dtype that they promote to, because a comparison in the
// computed dtype would tell a number from its own rounded value. Plain numbers beside integers are
// checked later.
SmallVector<Tensor, kMaxArity> in_stored(const ElementwiseInfo& info,
                                         std::span<const Tensor> inputs) {
  SmallVector<Tensor, kMaxArity> converted(inputs.begin(), inputs.end());
  const DType common = promote(promoted(info, inputs));
  if (!is_stored(common)) return converted;
  for (std::size_t i = info.first_is_mask ? 1 : 0; i < converted.size(); ++i) {
    const bool is_exact =
        is_stored_integer(common)
            ? converted[i].is_wrapped_number()
            : info.takes_exact_number && i + 1 == converted.size() && converted[i].ndim() == 0;
    if (!is_exact) converted[i] = math::cast(converted[i], common);
  }
  return converted;
}

// Checks operands of ops with rules of their own. Not inlined: that would put it into the core of
// the download.
[[gnu::noinline]] void check_special_operands(const ElementwiseInfo& info,
                                              std::span<const Tensor> inputs) {
  if (info.dtype_rule == op::DTypeRule::kFirst) {
    check(inputs[1].dtype() == DType::kBool, ErrorCode::kDtypeMismatch, info.name, info.operands[1],
          " must be bool, got ", inputs[1].dtype(), '.');
  } else if (info.integer_rule == op::IntegerRule::kQuotient) {
    check(!is_integral(inputs[1].dtype()) || !is_integral(inputs[2].dtype()),
          ErrorCode::kDtypeMismatch, info.name, info.operands[1], " or ", info.operands[2],
          " must be floating-point or complex, got ", inputs[1].dtype(), " and ", inputs[2].dtype(),
          ". Convert one with to('float32').");
  } else if (inputs[0].is_wrapped_number() && !is_complex(inputs[0].dtype())) {
    const auto order = scalar_of(inputs[0]).to<double>();
    check(order >= 0 && std::isfinite(order) && std::trunc(order) == order,
          ErrorCode::kInvalidArgument, info.name, info.operands[0],
          " must be a whole number from 0, got ", order, '.');
  }
}

// A parameter as an element of an integer dtype. A negative factor may wrap around in uint8. Not
// inlined: that would put it into the core of the download.
[[gnu::noinline]] double integer_param(std::string_view op, const op::Param& param, DType dtype,
                                       double value) {
  const bool is_whole = std::trunc(value) == value && std::abs(value) < 0x1p63;
  const Scalar number = is_whole ? Scalar(static_cast<std::int64_t>(value)) : Scalar(value);
  check_integer_factor(op, param.name, number, dtype);
  check(param.role == op::Param::Role::kFactor || dtype != DType::kUInt8 || value >= 0,
        ErrorCode::kInvalidArgument, op, param.name, " = ", value, " does not fit uint8.");
  return visit_dtype(computed_dtype(dtype),
                     [&]<class T>() { return static_cast<double>(number.to<T>()); });
}

// The parameters of an op that computes integers, in their dtype.
op::ParamValues integer_params(const ElementwiseInfo& info, DType compute, op::ParamValues values) {
  for (std::size_t i = 0; i < info.params.size(); ++i) {
    const op::Param& param = info.params[i];
    check(param.role != op::Param::Role::kForFloats || values[i] == 0, ErrorCode::kDtypeMismatch,
          info.name, param.name, " is not implemented for ", compute, '.');
    const bool is_limit = param.role == op::Param::Role::kLimit && !std::isinf(values[i]);
    if (is_limit || (param.role == op::Param::Role::kFactor && values[i] != 1))
      values[i] = integer_param(info.name, param, compute, values[i]);
  }
  return values;
}

bool has_zero(const Tensor& t) {
  if (is_stored(t.dtype())) {
    const Tensor wide = empty_with_layout_of(t, computed_dtype(t.dtype()));
    copy_data(wide, t);
    return has_zero(wide);
  }
  return visit_dtype(t.dtype(), [&]<class T>() {
    const Tensor host = on_host(t);
    const std::span<const T> values(host.data_as<T>(), static_cast<std::size_t>(t.numel()));
    return std::find(values.begin(), values.end(), T{}) != values.end();
  });
}

bool is_negative_number(const Tensor& t) {
  return t.is_wrapped_number() && t.dtype() == DType::kInt64 && *t.data_as<std::int64_t>() < 0;
}

// Throws unless numbers beside integers fit their dtype. Where they are only compared or selected,
// a negative one may wrap around in uint8, as in PyTorch.
void check_numbers(const ElementwiseInfo& info, DType compute, std::span<const Tensor> inputs) {
  const op::IntegerRule rule = info.integer_rule;
  if (rule == op::IntegerRule::kModular || rule == op::IntegerRule::kPower) return;
  const bool may_wrap =
      compute != DType::kUInt8 || info.dtype_rule == op::DTypeRule::kBool || info.first_is_mask;
  for (const Tensor& input : inputs) {
    if (!input.is_wrapped_number()) continue;
    (void)as_element(input, compute);
    check(may_wrap || !is_negative_number(input), ErrorCode::kInvalidArgument, info.name,
          "a negative number does not fit uint8.");
  }
}

}  // namespace

bool needs_conversion(const ElementwiseInfo& info, std::span<const Tensor> inputs) {
  const std::span<const Tensor> operands = promoted(info, inputs);
  const auto is_other = [&](const Tensor& t) { return t.dtype() != operands[0].dtype(); };
  if (std::ranges::none_of(operands, is_other)) return false;
  if (info.dtype_rule != op::DTypeRule::kFirst)
    return std::ranges::any_of(operands, [](const Tensor& t) { return is_stored(t.dtype()); });
  return std::ranges::any_of(
      operands, [&](const Tensor& t) { return t.dtype() != DType::kBool && is_other(t); });
}

void check_operands(const ElementwiseInfo& info, std::span<const Tensor> inputs) {
  if (!info.refuses_bool.empty()) {
    for (const Tensor& input : inputs)
      check(input.dtype() != DType::kBool, ErrorCode::kDtypeMismatch, info.name, info.refuses_bool);
  }
  const bool is_special = info.dtype_rule == op::DTypeRule::kFirst ||
                          info.integer_rule == op::IntegerRule::kQuotient ||
                          info.integer_rule == op::IntegerRule::kOrder;
  if (is_special) check_special_operands(info, inputs);
}

SmallVector<Tensor, kMaxArity> converted_operands(const ElementwiseInfo& info,
                                                  std::span<const Tensor> inputs) {
  check_operands(info, inputs);
  return info.dtype_rule == op::DTypeRule::kFirst ? in_first_dtype(info, inputs)
                                                  : in_stored(info, inputs);
}

ResultTypes result_types(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                         const op::ParamValues& params) {
  if (info.first_is_mask) {
    check(inputs[0].dtype() == DType::kBool || inputs[0].dtype() == DType::kUInt8,
          ErrorCode::kDtypeMismatch, info.name, "expected the mask to be bool, got ",
          inputs[0].dtype(), '.');
    if (inputs[0].dtype() == DType::kUInt8) {
      static WarnOnce once;
      once.warn("[", info.name, "] a mask of dtype uint8 is deprecated. Use mask.to('bool').");
    }
  }
  inputs = promoted(info, inputs);
  if (info.dtype_rule == op::DTypeRule::kFirst) return {inputs[0].dtype(), inputs[0].dtype()};
  DType compute = promote(inputs);
  if (info.dtype_rule == op::DTypeRule::kFloat && is_integral(compute)) compute = default_dtype();
  if (is_integral(compute)) compute = promote_limits(info, compute, params);
  if (info.dtype_rule == op::DTypeRule::kBool) return {compute, DType::kBool};
  return {compute, info.is_real_of_complex ? real_dtype(compute) : compute};
}

op::ParamValues checked_params(const ElementwiseInfo& info, DType compute,
                               std::span<const Tensor> inputs, const op::ParamValues& params) {
  if (!is_integral(compute)) return params;
  const op::ParamValues values = integer_params(info, compute, params);
  check_numbers(info, compute, inputs);
  return values;
}

void check_second_integer(const ElementwiseInfo& info, DType compute, const Shape& shape,
                          std::span<const Tensor> inputs) {
  const bool is_integer = is_integral(compute) && compute != DType::kBool;
  const op::IntegerRule rule = info.integer_rule;
  if (!is_integer || (rule != op::IntegerRule::kDivisor && rule != op::IntegerRule::kPower)) return;
  const Tensor& second = inputs[1];
  if (rule == op::IntegerRule::kPower) {
    check(!is_negative_number(second), ErrorCode::kInvalidArgument, info.name,
          "integers cannot be raised to a negative power. Convert with to('float32').");
    (void)as_element(second, compute);
    return;
  }
  if (numel(shape) == 0) return;
  // Checked in the dtype of the division, where it may become zero: 256 is 0 in uint8.
  Tensor divisor = packed(second);
  if (divisor.dtype() != compute) {
    divisor = Tensor::empty(second.shape(), compute, second.device());
    copy_data(divisor, second);
  }
  check(!has_zero(divisor), ErrorCode::kInvalidArgument, info.name,
        "integers cannot be divided by zero. Convert with to('float32') to get infinities and "
        "NaN.");
}

}  // namespace eg
