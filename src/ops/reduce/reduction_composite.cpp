#include "ops/reduce/reduction_composite.h"

#include "base/infinity.h"
#include "formulas/all.h"
#include "ops/create/copy.h"

namespace eg {
namespace {

// Replaces NaN by zero.
Tensor without_nan(const Tensor& x) {
  if (is_complex(x.dtype())) return where(x == x, x, 0);
  return call_with<op::NanToNum>({.nan = 0, .posinf = kInfinity, .neginf = -kInfinity}, x);
}

}  // namespace

Tensor Nansum::call(const Tensor& input, const std::optional<Dims>& dim, bool keepdim,
                    std::optional<DType> dtype) {
  if (!is_differentiable(input.dtype())) return Sum::call(input, dim, keepdim, dtype);
  const bool is_cast = dtype.has_value() && is_differentiable(*dtype);
  const Tensor given = is_cast ? ToDType::call(input, *dtype) : input;
  Tensor result = Sum::call(without_nan(detach(given)), dim, keepdim, dtype);
  if (!is_differentiable(result.dtype())) return result;
  return record<Nansum>(result, {given},
                        {given.shape(), reduced_dims(dim, keepdim, given.ndim(), doc.name)},
                        {{given}});
}

// The gradient is multiplied by the mask instead of selected by it, so that nanmean() of only NaN
// has a NaN gradient, like its value.
GradList Nansum::backward(const Backward<Nansum>& b) {
  const Var x = b.saved(0);
  const auto& [shape, reduced] = b.attrs();
  return {unreduce(b.grad(), reduced, shape) * (x == x)};
}

Tensor Nanmean::call(const Tensor& input, const std::optional<Dims>& dim, bool keepdim,
                     std::optional<DType> dtype) {
  check(is_differentiable(input.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "expected floating-point or complex numbers, got ", input.dtype(), '.');
  const Var x = detach(input);
  const Var count = Sum::call(x == x, dim, keepdim);
  return Nansum::call(input, dim, keepdim, dtype) / count;
}

Tensor CountNonzero::call(const Tensor& input, const std::optional<Dims>& dim) {
  return Sum::call(detach(input) != 0, dim);
}

TensorList Aminmax::call(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  std::optional<Dims> dims;
  if (dim.has_value()) dims = Dims{*dim};
  return {Amin::call(input, dims, keepdim), Amax::call(input, dims, keepdim)};
}

TensorList VarMean::call(const Tensor& input, const std::optional<Dims>& dim, double correction,
                         bool keepdim, std::optional<bool> unbiased) {
  return {Variance::call(input, dim, correction, keepdim, unbiased),
          Mean::call(input, dim, keepdim)};
}

TensorList StdMean::call(const Tensor& input, const std::optional<Dims>& dim, double correction,
                         bool keepdim, std::optional<bool> unbiased) {
  return {Std::call(input, dim, correction, keepdim, unbiased), Mean::call(input, dim, keepdim)};
}

}  // namespace eg
