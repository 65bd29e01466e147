// compile: compact

#include "ops/linalg/matrix_batch.h"

#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/matrix_product.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"

namespace eg {

Shape batch_of(const Tensor& t) {
  return Shape(std::span<const std::int64_t>(t.shape().data(), t.shape().size() - 2));
}

Tensor empty_matrices(const Tensor& t, std::int64_t rows, std::int64_t columns) {
  Shape shape = batch_of(t);
  shape.push_back(rows);
  shape.push_back(columns);
  return Tensor::empty(shape, t.dtype(), t.device());
}

kernel::MatrixBatch matrices(const Tensor& packed) {
  return {numel(batch_of(packed)), packed.size(-2), packed.size(-1)};
}

Tensor expand_batch(const Tensor& t, const Shape& batch) {
  Shape shape = batch;
  shape.push_back(t.size(-2));
  shape.push_back(t.size(-1));
  return t.shape() == shape ? t : Expand::call(t, shape);
}

Tensor identity(std::int64_t n, const Tensor& like) {
  return Diag::call(full({n}, 1, like.dtype(), like.device()));
}

void check_matrix(const Tensor& t, std::string_view name, std::string_view op) {
  check(t.ndim() >= 2, ErrorCode::kShapeMismatch, op, name,
        " must have at least 2 dimensions, got ", t.ndim(), '.');
  check(is_differentiable(t.dtype()), ErrorCode::kDtypeMismatch, op,
        "expected floating-point or complex matrices, got ", t.dtype(), '.');
}

void check_square(const Tensor& t, std::string_view name, std::string_view op) {
  check_matrix(t, name, op);
  check(t.size(-1) == t.size(-2), ErrorCode::kShapeMismatch, op, name, " must be square, got ",
        t.size(-2), 'x', t.size(-1), " matrices.");
}

std::string FirstBreakdown::location(const Tensor& a) const {
  return a.ndim() == 2 ? std::string() : join_text("matrix ", matrix, " of the batch: ");
}

void FirstBreakdown::check_finite(const Tensor& a, std::string_view op) const {
  if (!exists()) return;
  const Tensor all = View::call(detach(a), {-1, a.size(-2), a.size(-1)});
  const Var bad = Select::call(all, 0, matrix);
  check(is_true(All::call(bad - bad == 0)), ErrorCode::kInvalidArgument, op, location(a),
        "the matrix has elements that are NaN or infinite; x.isfinite() shows which.");
}

}  // namespace eg
