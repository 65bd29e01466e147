#include "ops/reduce/reduction_composite.h"

namespace eg {
namespace {

Tensor without_nans(const Tensor& input) {
  if (!is_differentiable(input.dtype())) return input;
  const Var x = input;
  return where(x == x, x, 0).tensor();
}

}  // namespace

Tensor Nansum::call(const Tensor& input, const std::optional<Dims>& dim, bool keepdim,
                    std::optional<DType> dtype) {
  return Sum::call(without_nans(input), dim, keepdim, dtype);
}

Tensor Nanmean::call(const Tensor& input, const std::optional<Dims>& dim, bool keepdim,
                     std::optional<DType> dtype) {
  check(is_differentiable(input.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "nanmean(): expected input to have floating point or complex dtype but got ", input.dtype(),
        '.');
  const Var x = detach(input);
  const Var count = Sum::call((x == x).tensor(), dim, keepdim);
  return (Var(Nansum::call(input, dim, keepdim, dtype)) / count).tensor();
}

Tensor CountNonzero::call(const Tensor& input, const std::optional<Dims>& dim) {
  return Sum::call((Var(detach(input)) != 0).tensor(), dim);
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
