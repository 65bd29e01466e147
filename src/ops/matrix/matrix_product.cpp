// compile: compact

#include "ops/matrix/matrix_product.h"

#include "ops/complex/complex.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

std::span<const std::int64_t> leading(const Shape& sizes, std::size_t count) {
  return {sizes.data(), sizes.size() - count};
}

}  // namespace

kernel::MatrixLayout matrix_layout(const Tensor& t, std::span<const std::int64_t> batch) {
  const std::size_t rows = t.shape().size() - 2;
  kernel::MatrixLayout result{{}, t.strides()[rows], t.strides()[rows + 1]};
  if (!batch.empty()) {
    result.batch_strides = broadcast_strides(leading(t.shape(), 2), leading(t.strides(), 2), batch);
  }
  return result;
}

kernel::MatrixLayout row_layout(const Tensor& t) { return {{}, 0, t.strides()[0]}; }

Tensor transposed(const Tensor& t) {
  if (ops_are_differentiated()) return Transpose::call(t, -2, -1);
  // A view made in a backward pass that is not recorded needs no history.
  Shape shape = t.shape();
  Strides strides = t.strides();
  const std::size_t last = shape.size() - 1;
  std::swap(shape[last - 1], shape[last]);
  std::swap(strides[last - 1], strides[last]);
  return t.alias(shape, strides, t.offset());
}

Tensor adjoint(const Tensor& t) { return Conj::call(transposed(t)); }

Tensor folded(const Tensor& t) {
  if (t.ndim() == 2) return t;
  return Reshape::call(t, {numel(leading(t.shape(), 1)), t.shape().back()});
}

void check_operands(std::string_view op, const Tensor& a, const Tensor& b) {
  check(a.dtype() == b.dtype(), ErrorCode::kDtypeMismatch, op,
        "the operands must have the same dtype, got ", a.dtype(), " and ", b.dtype(), '.');
  check(a.dtype() != DType::kBool, ErrorCode::kDtypeMismatch, op, "not implemented for ", a.dtype(),
        '.');
  check_same_device(op, a.device(), b.device());
}

void check_inner_sizes(std::string_view op, const Tensor& a, const Tensor& b) {
  check(a.size(-1) == b.size(-2), ErrorCode::kShapeMismatch, op, "a ", a.size(-2), 'x', a.size(-1),
        " matrix cannot be multiplied by a ", b.size(-2), 'x', b.size(-1), " matrix, from shapes ",
        a.shape(), " and ", b.shape(), '.');
}

void check_matrices(std::string_view op, const Tensor& a, const Tensor& b) {
  check(a.ndim() == 2, ErrorCode::kShapeMismatch, op, "the first factor must be a matrix, got ",
        a.ndim(), " dimensions.");
  check(b.ndim() == 2, ErrorCode::kShapeMismatch, op, "the second factor must be a matrix, got ",
        b.ndim(), " dimensions.");
  check_inner_sizes(op, a, b);
  check_operands(op, a, b);
}

void check_batches(std::string_view op, const Tensor& a, const Tensor& b) {
  check(a.ndim() == 3, ErrorCode::kShapeMismatch, op,
        "the first batch must have 3 dimensions, got ", a.ndim(), '.');
  check(b.ndim() == 3, ErrorCode::kShapeMismatch, op,
        "the second batch must have 3 dimensions, got ", b.ndim(), '.');
  check(a.shape()[0] == b.shape()[0] && a.shape()[2] == b.shape()[1], ErrorCode::kShapeMismatch, op,
        "the first two sizes of the second batch must be [", a.shape()[0], ", ", a.shape()[2],
        "], got [", b.shape()[0], ", ", b.shape()[1], "].");
  check_operands(op, a, b);
}

void multiply_into(const Tensor& out, const Tensor& a, const Tensor& b, Scalar alpha, Scalar beta,
                   kernel::OptionalIn bias) {
  const Shape batch(leading(out.shape(), 2));
  run(kernel::MatrixProduct{.sizes = {batch, out.size(-2), out.size(-1), a.size(-1)},
                            .a = a.memory(),
                            .a_layout = matrix_layout(a, batch),
                            .b = b.memory(),
                            .b_layout = matrix_layout(b, batch),
                            .c = out.memory(),
                            .c_layout = matrix_layout(out, batch),
                            .alpha = alpha,
                            .beta = beta,
                            .bias = bias});
}

Tensor multiply(const Tensor& a, const Tensor& b, std::string_view op) {
  Shape shape = broadcast_shapes(leading(a.shape(), 2), leading(b.shape(), 2), op);
  shape.push_back(a.size(-2));
  shape.push_back(b.size(-1));
  const Tensor out = Tensor::empty(shape, a.dtype(), a.device());
  multiply_into(out, a, b);
  return out;
}

}  // namespace eg
