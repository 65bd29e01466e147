#include "ops/elementwise/branch.h"

#include "dispatch/precision.h"
#include "dispatch/var.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

// As floating-point numbers, because the difference of two int64 may need one bit more.
Var integer_distance(const Tensor& a, const Tensor& b) {
  const Var x = ToDType::call(a, DType::kInt64);
  const Var y = ToDType::call(b, DType::kInt64);
  const Var wrapped = maximum(x, y) - minimum(x, y);
  const Var distance = ToDType::call(wrapped, default_dtype());
  return where(wrapped < 0, distance + 0x1p64, distance);
}

}  // namespace

Tensor Prelu::call(const Tensor& input, const Tensor& weight) {
  check(weight.ndim() <= 1, ErrorCode::kShapeMismatch, doc.name,
        "weight must have at most 1 dimension, got ", weight.ndim(), '.');
  check(weight.dtype() == input.dtype(), ErrorCode::kDtypeMismatch, doc.name,
        "input and weight must have the same dtype, got ", input.dtype(), " and ", weight.dtype(),
        '.');
  Shape shape(input.shape().size(), 1);
  if (weight.numel() != 1) {
    check(input.ndim() > 0, ErrorCode::kShapeMismatch, doc.name,
          "a 0-dim input takes one weight, got ", weight.numel(), '.');
    const std::size_t channels = input.ndim() > 1 ? 1 : 0;
    // A vector has one channel.
    const std::int64_t count = channels == 1 ? input.size(1) : 1;
    check(weight.numel() == count, ErrorCode::kShapeMismatch, doc.name,
          "expected one weight or one for each channel, ", count, ", got ", weight.numel(), '.');
    shape[channels] = count;
  }
  return eg::call<op::Prelu>(input, Reshape::call(weight, shape));
}

Tensor Threshold::call(const Tensor& input, Scalar threshold, Scalar value) {
  const DType dtype = input.dtype();
  // A value that does not fit float32 is refused below.
  if (dtype == DType::kFloat64 || (dtype == DType::kFloat32 && value.fits<float>())) {
    return call_with<op::Threshold>({threshold.to<double>(), value.to<double>()}, input);
  }
  return eg::call<op::MaskedFill>(input, eg::call<op::Le>(input, threshold), value);
}

Tensor Isclose::call(const Tensor& input, const Tensor& other, double rtol, double atol,
                     bool equal_nan) {
  check(input.dtype() == other.dtype(), ErrorCode::kDtypeMismatch, doc.name,
        "both tensors must have the same dtype, got ", input.dtype(), " and ", other.dtype(), '.');
  check(rtol >= 0 && atol >= 0, ErrorCode::kInvalidArgument, doc.name,
        "rtol and atol must not be negative, got ", rtol, " and ", atol, '.');
  const Var x = detach(input);
  const Var y = detach(other);
  Var close = x == y;
  if (equal_nan) close = close | ((x != x) & (y != y));
  if (input.dtype() == DType::kBool) return close;
  if (is_integral(input.dtype())) {
    const Var size = abs(ToDType::call(y, default_dtype()));
    return close | (integer_distance(x, y) <= size * rtol + atol);
  }
  const Var distance = abs(x - y);
  const Var is_finite = distance - distance == 0;
  return close | (is_finite & (distance <= abs(y) * rtol + atol));
}

}  // namespace eg
