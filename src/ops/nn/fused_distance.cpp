#include "ops/nn/fused_distance.h"

#include <algorithm>
#include <cmath>

#include "dispatch/factories.h"
#include "dispatch/forward.h"
#include "dispatch/record.h"
#include "dispatch/var.h"
#include "kernels/distance.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/matrix_product.h"
#include "ops/reduce/reduction.h"
#include "ops/reduce/statistics.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

// For more rows than this PyTorch computes with matrix products, which lose precision where rows
// are close to each other.
constexpr std::int64_t kMostRowsWithoutProduct = 25;

struct FusedDistances {
  static constexpr op::Doc doc{"cdist", "The p-norms between rows."};
  struct Attrs {
    double p;
  };
  static constexpr std::array<std::string_view, 3> saved_names{"x1", "x2", "result"};
  static GradList backward(const Backward<FusedDistances>& b);
};

std::span<const std::int64_t> batch_of(const Tensor& t) {
  return {t.shape().data(), t.shape().size() - 2};
}

// The rows expanded to the batch.
Tensor in_batch(const Tensor& rows, const Shape& batch) {
  Shape shape = batch;
  shape.push_back(rows.size(-2));
  shape.push_back(rows.size(-1));
  return Expand::call(rows, shape);
}

// Sums (x1 - x2) * slopes with two matrix products, without storing the differences.
GradList euclidean_gradients(const Tensor& x1, const Tensor& x2, const Var& distances,
                             const Var& grad) {
  // Where rows are equal, the gradient is multiplied by 0, so that NaN and infinity propagate.
  const Var is_zero = distances == 0;
  const Tensor slopes = where(is_zero, grad * 0, grad / where(is_zero, 1, distances));
  const Tensor turned = transposed(slopes);
  const auto gradient = [](const Tensor& x, const Tensor& weights, const Tensor& others) {
    const Var own = x * Sum::call(weights, Dims{-1}, true);
    return own - matmul(weights, others);
  };
  return {gradient(x1, slopes, x2), gradient(x2, turned, x1)};
}

GradList formula_gradients(const Tensor& x1, const Tensor& x2, const Tensor& distances,
                           const Tensor& grad, double p) {
  const Tensor differences = Unsqueeze::call(x1, -2) - Unsqueeze::call(x2, -3);
  const ReducedDims last = reduced_dims(Dims{-1}, false, differences.ndim(), "cdist");
  const Tensor of_differences = norm_gradient(grad, differences, distances, {p, last});
  return {Sum::call(of_differences, Dims{-2}), -Sum::call(of_differences, Dims{-3})};
}

GradList FusedDistances::backward(const Backward<FusedDistances>& b) {
  const double p = b.attrs().p;
  const Tensor x1 = b.saved(0);
  const Tensor x2 = b.saved(1);
  const Tensor distances = b.saved(2);
  const bool is_large = std::max(x1.size(-2), x2.size(-2)) > kMostRowsWithoutProduct;
  if (p == 2 && is_large) return euclidean_gradients(x1, x2, distances, b.grad());
  if (p == 2 || ops_are_differentiated()) return formula_gradients(x1, x2, distances, b.grad(), p);
  const Tensor from = packed(x1);
  const Tensor to = packed(x2);
  const Tensor norms = packed(distances);
  const Tensor grad = packed(b.grad());
  const Shape batch(batch_of(from));
  const std::int64_t rows = from.size(-2);
  const std::int64_t columns = to.size(-2);
  GradList grads{Tensor::empty(from.shape(), from.dtype(), from.device()),
                 Tensor::empty(to.shape(), to.dtype(), to.device())};
  if (grads[0].numel() > 0)
    run(kernel::DistancesBackward{p, numel(batch), rows, columns, from.size(-1), columns, 1,
                                  from.memory(), to.memory(), norms.memory(), grad.memory(),
                                  grads[0].memory()});
  if (grads[1].numel() > 0)
    run(kernel::DistancesBackward{p, numel(batch), columns, rows, to.size(-1), 1, columns,
                                  to.memory(), from.memory(), norms.memory(), grad.memory(),
                                  grads[1].memory()});
  return grads;
}

}  // namespace

bool can_fuse_distances(const Tensor& x1, const Tensor& x2, double p) {
  const bool is_served = x1.dtype() == DType::kFloat32 && x2.dtype() == DType::kFloat32 &&
                         x1.device().is_cpu() && x2.device().is_cpu();
  return is_served && (p == 1 || p == 2 || (std::isinf(p) && p > 0)) && x1.size(-1) > 0;
}

Tensor fused_distances(const Tensor& x1, const Tensor& x2, double p) {
  const Shape batch = broadcast_shapes(Shape(batch_of(x1)), Shape(batch_of(x2)), "cdist");
  const Tensor from = in_batch(x1, batch);
  const Tensor to = in_batch(x2, batch);
  Shape shape = batch;
  shape.push_back(from.size(-2));
  shape.push_back(to.size(-2));
  const Tensor result = Tensor::empty(shape, from.dtype(), from.device());
  if (result.numel() > 0) {
    const Tensor a = packed(detach(from));
    const Tensor b = packed(detach(to));
    run(kernel::Distances{p, numel(batch), from.size(-2), to.size(-2), from.size(-1), a.memory(),
                          b.memory(), result.memory()});
  }
  return record<FusedDistances>(result, {from, to}, {p}, {{from}, {to}, {result, true}});
}

}  // namespace eg
