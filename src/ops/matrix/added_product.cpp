#include "ops/matrix/added_product.h"

#include "ops/create/copy.h"
#include "ops/matrix/matmul.h"
#include "ops/reduce/statistics.h"
#include "ops/shape/view.h"

namespace eg {

Tensor Addmv::call(const Tensor& input, const Tensor& mat, const Tensor& vec, Scalar beta,
                   Scalar alpha) {
  check(mat.ndim() == 2 && vec.ndim() == 1 && input.ndim() <= 1, ErrorCode::kShapeMismatch,
        doc.name, "expected a vector, a matrix and a vector, got ", input.ndim(), ", ", mat.ndim(),
        " and ", vec.ndim(), " dimensions.");
  check(mat.size(1) == vec.size(0), ErrorCode::kShapeMismatch, doc.name, "mat of shape ",
        mat.shape(), " cannot be multiplied by vec of shape ", vec.shape(), '.');
  const Tensor column = Unsqueeze::call(input, -1);
  return Squeeze::call(Addmm::call(column, mat, Unsqueeze::call(vec, 1), beta, alpha), Dims{-1});
}

Tensor Addr::call(const Tensor& input, const Tensor& vec1, const Tensor& vec2, Scalar beta,
                  Scalar alpha) {
  check(vec1.ndim() == 1 && vec2.ndim() == 1, ErrorCode::kShapeMismatch, doc.name,
        "vec1 and vec2 must be vectors, got ", vec1.ndim(), " and ", vec2.ndim(), " dimensions.");
  const DType dtype = promote_types(input.dtype(), promote_types(vec1.dtype(), vec2.dtype()));
  const bool has_fractions = is_floating(dtype) || is_complex(dtype);
  check(has_fractions || !(beta.is_float() || alpha.is_float()), ErrorCode::kInvalidArgument,
        doc.name, "beta and alpha must be whole numbers for operands of ", dtype, '.');
  // Sums of bytes that are 0 or 1 are not 0 where a bool is true.
  const bool is_bool = dtype == DType::kBool;
  const DType computed = is_bool ? DType::kUInt8 : dtype;
  const auto factor = [=](Scalar s) { return is_bool ? Scalar(s.to<bool>() ? 1 : 0) : s; };
  const auto column = Unsqueeze::call(ToDType::call(vec1, computed), 1);
  const auto row = Unsqueeze::call(ToDType::call(vec2, computed), 0);
  const Tensor sum =
      Addmm::call(ToDType::call(input, computed), column, row, factor(beta), factor(alpha));
  return ToDType::call(sum, dtype);
}

// Computed as one product: the first matrices are joined side by side, the second ones stacked.
Tensor Addbmm::call(const Tensor& input, const Tensor& batch1, const Tensor& batch2, Scalar beta,
                    Scalar alpha) {
  check(batch1.ndim() == 3 && batch2.ndim() == 3, ErrorCode::kShapeMismatch, doc.name,
        "batch1 and batch2 must have 3 dimensions, got shapes ", batch1.shape(), " and ",
        batch2.shape(), '.');
  check(batch1.size(0) == batch2.size(0) && batch1.size(2) == batch2.size(1),
        ErrorCode::kShapeMismatch, doc.name, "batches of shapes ", batch1.shape(), " and ",
        batch2.shape(), " cannot be multiplied.");
  const std::int64_t inner = batch1.size(0) * batch1.size(2);
  const Tensor beside = Reshape::call(Permute::call(batch1, {1, 0, 2}), {batch1.size(1), inner});
  return Addmm::call(input, beside, Reshape::call(batch2, {inner, batch2.size(2)}), beta, alpha);
}

Tensor Renorm::call(const Tensor& input, double p, std::int64_t dim, double maxnorm) {
  check(p > 0, ErrorCode::kInvalidArgument, doc.name, "p must be positive, got ", p, '.');
  check(maxnorm >= 0, ErrorCode::kInvalidArgument, doc.name, "maxnorm must not be negative, got ",
        maxnorm, '.');
  check(input.ndim() > 1, ErrorCode::kShapeMismatch, doc.name,
        "expected at least 2 dimensions, got ", input.ndim(), '.');
  const std::int64_t kept = wrap_dim(dim, input.ndim(), doc.name);
  Dims others;
  for (std::int64_t d = 0; d < input.ndim(); ++d) {
    if (d != kept) others.push_back(d);
  }
  const Var norm = Norm::call(input, p, others, true);
  // The value that PyTorch adds to avoid dividing by zero.
  constexpr double kEpsilon = 1e-7;
  return input * where(norm > maxnorm, maxnorm / (norm + kEpsilon), 1);
}

}  // namespace eg
