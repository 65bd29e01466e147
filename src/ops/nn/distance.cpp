#include "ops/nn/distance.h"

#include "formulas/all.h"
#include "ops/nn/fused_distance.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

// A vector divided by its length. A length below eps counts as eps, but its gradient is computed as
// if it were not clamped.
Var direction(const Tensor& x, std::int64_t dim, double eps) {
  const Var length = Norm::call(x, 2, Dims{dim}, true);
  const Tensor measured = detach(length);
  return x / (length + (call_with<op::Clamp>({.min = eps}, measured) - measured));
}

}  // namespace

Tensor Normalize::call(const Tensor& input, double p, const Dims& dim, double eps) {
  const Tensor length = Norm::call(input, p, dim, true);
  return input / call_with<op::Clamp>({.min = eps}, length);
}

Tensor CosineSimilarity::call(const Tensor& x1, const Tensor& x2, std::int64_t dim, double eps) {
  for (const Tensor& x : {x1, x2}) {
    check(!is_complex(x.dtype()), ErrorCode::kDtypeMismatch, doc.name,
          "expected real tensors, got ", x.dtype(), '.');
  }
  const Shape shape = broadcast_shapes(x1.shape(), x2.shape(), doc.name);
  const auto ndim = static_cast<std::int64_t>(shape.size());
  const std::int64_t d = wrap_dim(dim, ndim, doc.name);
  const Var cosines =
      direction(Expand::call(x1, shape), d, eps) * direction(Expand::call(x2, shape), d, eps);
  return Sum::call(cosines, Dims{d});
}

Tensor PairwiseDistance::call(const Tensor& x1, const Tensor& x2, double p, double eps,
                              bool keepdim) {
  return Norm::call(x1 - x2 + eps, p, Dims{-1}, keepdim);
}

Tensor Cdist::call(const Tensor& x1, const Tensor& x2, double p) {
  check(x1.ndim() >= 2 && x2.ndim() >= 2, ErrorCode::kShapeMismatch, doc.name,
        "x1 and x2 must have at least 2 dimensions, got shapes ", x1.shape(), " and ", x2.shape(),
        '.');
  check(x1.size(-1) == x2.size(-1), ErrorCode::kShapeMismatch, doc.name,
        "the rows of x1 and x2 must have the same size, got ", x1.size(-1), " and ", x2.size(-1),
        '.');
  if (can_fuse_distances(x1, x2, p)) return fused_distances(x1, x2, p);
  return Norm::call(Unsqueeze::call(x1, -2) - Unsqueeze::call(x2, -3), p, Dims{-1});
}

Tensor Glu::call(const Tensor& input, std::int64_t dim) {
  check(input.ndim() > 0, ErrorCode::kShapeMismatch, doc.name,
        "expected at least 1 dimension, got a 0-dim tensor.");
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const std::int64_t size = input.size(d);
  check(size % 2 == 0, ErrorCode::kShapeMismatch, doc.name, "dimension ", d,
        " must have an even size to be halved, got ", size, '.');
  const Tensor gate = eg::call<op::Sigmoid>(Narrow::call(input, d, size / 2, size / 2));
  return Narrow::call(input, d, 0, size / 2) * gate;
}

}  // namespace eg
