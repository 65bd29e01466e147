#include "ops/matrix/added_product.h"

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
  return Addmm::call(input, Unsqueeze::call(vec1, 1), Unsqueeze::call(vec2, 0), beta, alpha);
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
  return (Var(input) * where(norm > maxnorm, maxnorm / (norm + kEpsilon), 1)).tensor();
}

}  // namespace eg
