#include "ops/elementwise/branch.h"

#include "formulas/all.h"
#include "ops/shape/view.h"

namespace eg {

Tensor Prelu::call(const Tensor& input, const Tensor& weight) {
  check(weight.ndim() <= 1, ErrorCode::kShapeMismatch, doc.name,
        "Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.ndim(), '.');
  check(weight.dtype() == input.dtype(), ErrorCode::kDtypeMismatch, doc.name,
        "Type promoting not supported. Got ", input.dtype(), " and ", weight.dtype(), '.');
  Shape shape(input.shape().size(), 1);
  if (weight.numel() != 1) {
    check(input.ndim() > 0, ErrorCode::kShapeMismatch, doc.name,
          "Not allow zero-dim input tensor with several weights.");
    const std::size_t channels = input.ndim() > 1 ? 1 : 0;
    // A vector is one channel.
    const std::int64_t count = channels == 1 ? input.size(1) : 1;
    check(weight.numel() == count, ErrorCode::kShapeMismatch, doc.name,
          "Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
          weight.numel(), " and channel size = ", count, '.');
    shape[channels] = count;
  }
  return eg::call<op::Prelu>(input, Reshape::call(weight, shape));
}

Tensor Threshold::call(const Tensor& input, Scalar threshold, Scalar value) {
  const DType dtype = input.dtype();
  // A value that is no float32 is refused below.
  if (dtype == DType::kFloat64 || (dtype == DType::kFloat32 && value.fits<float>())) {
    return call_with<op::Threshold>({threshold.to<double>(), value.to<double>()}, input);
  }
  return eg::call<op::MaskedFill>(input, eg::call<op::Le>(input, threshold), value);
}

Tensor Isclose::call(const Tensor& input, const Tensor& other, double rtol, double atol,
                     bool equal_nan) {
  check(input.dtype() == other.dtype(), ErrorCode::kDtypeMismatch, doc.name, input.dtype(),
        " did not match ", other.dtype(), '.');
  check(rtol >= 0 && atol >= 0, ErrorCode::kInvalidArgument, doc.name,
        "rtol and atol must be greater than or equal to zero, but got ", rtol, " and ", atol, '.');
  const Var x = detach(input);
  const Var y = detach(other);
  Var close = x == y;
  if (equal_nan) close = close | ((x != x) & (y != y));
  if (input.dtype() == DType::kBool) return close.tensor();
  const Var distance = abs(x - y);
  const Var is_finite = distance - distance == 0;
  return (close | (is_finite & (distance <= abs(y) * rtol + atol))).tensor();
}

}  // namespace eg
