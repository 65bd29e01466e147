#include "ops/elementwise/overload.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/graph/variable.h"
#include "dispatch/factories.h"
#include "dispatch/in_place.h"
#include "dispatch/promotion.h"
#include "dispatch/var.h"
#include "ops/complex/complex.h"
#include "ops/create/copy.h"
#include "ops/sparse/sparse.h"
#include "ops/sparse/sparse_parts.h"

namespace eg {
namespace {

// apply_elementwise or its in-place form.
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

// True for a limit that a double represents exactly, as not every int64 is.
bool is_number(const std::optional<Operand>& limit) {
  if (!limit.has_value()) return true;
  const Tensor& t = limit->tensor();
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  return t.is_wrapped_number() &&
         (t.dtype() != DType::kInt64 ||
          (*t.data_as<std::int64_t>() <= kExact && *t.data_as<std::int64_t>() >= -kExact));
}

// The lower limit, without a gradient where it is not below the upper one.
Operand below(const Operand& min, const std::optional<Operand>& max) {
  if (!max.has_value() || !requires_grad(min.tensor())) return min;
  return call<op::Where>(call<op::Lt>(min, *max), min, detach(min.tensor()));
}

bool is_of(const Tensor& t, DType dtype) { return t.dtype() == dtype || t.is_wrapped_number(); }

// Leaves plain numbers as they are.
Tensor in_dtype(const Operand& x, DType dtype) {
  return is_of(x.tensor(), dtype) ? x.tensor() : ToDType::call(x.tensor(), dtype);
}

Tensor limit(Apply apply, const Operand& x, const std::optional<Operand>& min,
             const std::optional<Operand>& max) {
  check(min.has_value() || max.has_value(), ErrorCode::kInvalidArgument, "clamp",
        "expected min, max or both, got neither.");
  if (is_number(min) && is_number(max)) {
    op::Clamp::Params numbers;
    if (min.has_value()) numbers.min = number_of(*min);
    if (max.has_value()) numbers.max = number_of(*max);
    return apply_op<op::Clamp>(apply, numbers, x);
  }
  for (const auto& one : {min, max}) {
    if (one.has_value())
      broadcast_shapes(x.tensor().shape(), one->tensor().shape(), op::Clamp::doc.name);
  }
  if (min.has_value() && max.has_value()) {
    const std::array<Tensor, 3> all{x.tensor(), min->tensor(), max->tensor()};
    const DType common = promote(all);
    if (std::ranges::any_of(all, [&](const Tensor& t) { return !is_of(t, common); }))
      return limit(apply, in_dtype(x, common), in_dtype(*min, common), in_dtype(*max, common));
  }
  const Operand above =
      min.has_value() ? apply_op<op::ClampMin>(apply, {}, x, below(*min, max)) : x;
  return max.has_value() ? apply_op<op::ClampMax>(apply, {}, above, *max) : above.tensor();
}

// A bool has a single bit.
Tensor turn_bits(Apply apply, const Operand& x) {
  if (x.tensor().dtype() == DType::kBool)
    return apply_op<op::BitwiseXor>(apply, {}, x, Scalar(true));
  return apply_op<op::BitwiseNot>(apply, {}, x);
}

Tensor limit_softly(Apply apply, const Operand& x, double min, double max) {
  constexpr std::string_view kName = op::Hardtanh::doc.name;
  check(!(min > max), ErrorCode::kInvalidArgument, kName,
        "minVal must not be greater than maxVal, got ", min, " and ", max, '.');
  const DType dtype = x.tensor().dtype();
  if (!is_integral(dtype)) return apply_op<op::Hardtanh>(apply, {min, max}, x);
  check(dtype != DType::kBool, ErrorCode::kDtypeMismatch, kName,
        "not implemented for bool. Convert with to('float32').");
  const op::Clamp::Params limits{std::trunc(min), std::trunc(max)};
  check(dtype != DType::kUInt8 || (limits.min >= 0 && limits.max >= 0), ErrorCode::kDtypeMismatch,
        kName, "the limits for uint8 must not be negative, got ", min, " and ", max,
        ". Convert with to('int32').");
  for (const double one : {limits.min, limits.max}) {
    if (std::abs(one) < 0x1p63)
      check_factor(kName, "a limit", static_cast<std::int64_t>(one), dtype);
  }
  return apply_op<op::Clamp>(apply, limits, x);
}

Tensor square(Apply apply, const Operand& x) {
  if (x.tensor().dtype() == DType::kBool) return apply_op<op::Pow>(apply, {}, x, Scalar(2));
  return apply_op<op::Square>(apply, {}, x);
}

bool is_complex_operand(const Operand& x) { return is_complex(x.tensor().dtype()); }

// The larger of the two is the one whose real part is larger.
Tensor complex_logaddexp(const Var& a, const Var& b) {
  const Var is_less = real(a) < real(b);
  const Var largest = where(is_less, b, a);
  const Var difference = where(is_less, a, b) - largest;
  // Infinity minus itself would be NaN.
  const Var power = where((real(a) == real(b)) & (real(a) - real(a) != 0), 0, difference);
  return (largest + log1p(exp(power))).tensor();
}

// A complex number with a part that is not finite is replaced in both parts, and has no gradient.
Tensor complex_nan_to_num(const Tensor& input, const op::NanToNum::Params& params) {
  const auto replaced = [&](const Tensor& part) {
    return apply_op<op::NanToNum>(apply_elementwise, params, detach(part));
  };
  const Var x = input;
  const Var numbers = ToComplex::call(replaced(Real::call(input)), replaced(Imag::call(input)));
  return where(x - x == 0, x, numbers).tensor();
}

op::NanToNum::Params replacements(DType dtype, std::optional<double> nan,
                                  std::optional<double> posinf, std::optional<double> neginf) {
  op::NanToNum::Params usual;
  if (is_stored(dtype) && is_differentiable(dtype)) usual.posinf = largest_stored(dtype);
  return {nan.value_or(usual.nan), posinf.value_or(usual.posinf), neginf.value_or(-usual.posinf)};
}

// A number as an element of the dtype of `x`.
double rounded(double number, const Operand& x) {
  const DType dtype = x.tensor().dtype();
  if (!is_stored(dtype) || !is_floating(dtype)) return number;
  const Tensor element = ToDType::call(scalar_tensor(number), dtype);
  return *ToDType::call(element, DType::kFloat64).data_as<double>();
}

// The base of a power in its dtype, if that is complex.
Tensor base_of(const Operand& input, const Operand& exponent) {
  const std::array<Tensor, 2> operands{input.tensor(), exponent.tensor()};
  if (is_complex_operand(input) || !is_complex_operand(exponent)) return operands[0];
  return ToDType::call(operands[0], promote(operands));
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
  if (!min.has_value() || !max.has_value() || (is_number(min) && is_number(max)))
    return limit(apply_elementwise_in_place, input, min, max);
  // The input must not be changed by one limit if the other one is refused.
  const std::array<Tensor, 3> operands{input.tensor(), min->tensor(), max->tensor()};
  return write_result(op::Clamp::doc.name, operands, [&](const Tensor& target) {
    return limit(apply_elementwise, target, min, max);
  });
}

Tensor Overload<op::BitwiseNot>::call(const Operand& input) {
  return turn_bits(apply_elementwise, input);
}
Tensor Overload<op::BitwiseNot>::call_in_place(const Operand& input) {
  return turn_bits(apply_elementwise_in_place, input);
}

Tensor Overload<op::Hardtanh>::call(const Operand& input, double min_val, double max_val) {
  return limit_softly(apply_elementwise, input, min_val, max_val);
}
Tensor Overload<op::Hardtanh>::call_in_place(const Operand& input, double min_val, double max_val) {
  return limit_softly(apply_elementwise_in_place, input, min_val, max_val);
}

Tensor Overload<op::Square>::call(const Operand& input) { return square(apply_elementwise, input); }
Tensor Overload<op::Square>::call_in_place(const Operand& input) {
  return square(apply_elementwise_in_place, input);
}

Tensor Overload<op::Logaddexp>::call(const Operand& input, const Operand& other) {
  if (is_complex_operand(input) || is_complex_operand(other))
    return complex_logaddexp(input.tensor(), other.tensor());
  return apply_op<op::Logaddexp>(apply_elementwise, {}, input, other);
}
Tensor Overload<op::Logaddexp>::call_in_place(const Operand& input, const Operand& other) {
  if (!is_complex_operand(input) && !is_complex_operand(other))
    return apply_op<op::Logaddexp>(apply_elementwise_in_place, {}, input, other);
  return write_result(op::Logaddexp::doc.name, {&input.tensor(), 1},
                      [&](const Tensor& t) { return call(t, other); });
}

Tensor Overload<op::NanToNum>::call(const Operand& input, Number nan, Number posinf,
                                    Number neginf) {
  const auto params = replacements(input.tensor().dtype(), nan, posinf, neginf);
  if (is_complex_operand(input)) return complex_nan_to_num(input.tensor(), params);
  return apply_op<op::NanToNum>(apply_elementwise, params, input);
}
Tensor Overload<op::NanToNum>::call_in_place(const Operand& input, Number nan, Number posinf,
                                             Number neginf) {
  if (!is_complex_operand(input))
    return apply_op<op::NanToNum>(apply_elementwise_in_place,
                                  replacements(input.tensor().dtype(), nan, posinf, neginf), input);
  return write_result(op::NanToNum::doc.name, {&input.tensor(), 1},
                      [&](const Tensor& t) { return call(t, nan, posinf, neginf); });
}

Tensor Overload<op::Hardshrink>::call(const Operand& input, double lambd) {
  return apply_op<op::Hardshrink>(apply_elementwise, {rounded(lambd, input)}, input);
}
Tensor Overload<op::Hardshrink>::call_in_place(const Operand& input, double lambd) {
  return apply_op<op::Hardshrink>(apply_elementwise_in_place, {rounded(lambd, input)}, input);
}

Tensor Overload<op::Isinf>::call(const Operand& input) {
  if (!is_complex_operand(input)) return apply_op<op::Isinf>(apply_elementwise, {}, input);
  const Tensor z = detach(input.tensor());
  if (z.is_sparse()) {
    const Pieces pieces(Coalesce::call(z));
    return with_values(pieces.shape, pieces.pattern, call(pieces.values));
  }
  return (Var(call(Real::call(z))) | call(Imag::call(z))).tensor();
}

Tensor Overload<op::Pow>::call(const Operand& input, const Operand& exponent) {
  return apply_op<op::Pow>(apply_elementwise, {}, base_of(input, exponent), exponent);
}
Tensor Overload<op::Pow>::call_in_place(const Operand& input, const Operand& exponent) {
  return apply_op<op::Pow>(apply_elementwise_in_place, {}, input, exponent);
}

}  // namespace eg
