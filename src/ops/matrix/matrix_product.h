#pragma once

// Shared by the matrix product ops: tensors as matrices with strides, checks, and the products
// themselves, not recorded.

#include <string_view>

#include "dispatch/record.h"
#include "kernels/matmul.h"
#include "tensor/tensor.h"

namespace eg {

/// The layout of `t` as a batch of matrices: its last two dims are the matrices, its leading dims,
/// broadcast to `batch`, the batch.
kernel::MatrixLayout matrix_layout(const Tensor& t, std::span<const std::int64_t> batch = {});
/// The layout of a 1-D tensor as a matrix of one row.
kernel::MatrixLayout row_layout(const Tensor& t);

/// `t` with its last two dims exchanged: a view, recorded when grad mode is on.
Tensor transposed(const Tensor& t);
/// The conjugate transpose of the matrices, by which the gradient of a product multiplies.
Tensor adjoint(const Tensor& t);
/// `t` with all dims but the last merged into one: a matrix.
Tensor folded(const Tensor& t);

/// Throws unless the operands share dtype and device and there are kernels for the dtype.
void check_operands(std::string_view op, const Tensor& a, const Tensor& b);
/// Throws unless the rows of `a` are as long as the columns of `b`.
void check_inner_sizes(std::string_view op, const Tensor& a, const Tensor& b);
/// Throws unless `a` and `b` are matrices that can be multiplied.
void check_matrices(std::string_view op, const Tensor& a, const Tensor& b);
/// Throws unless `a` and `b` are batches of matrices that can be multiplied pair by pair.
void check_batches(std::string_view op, const Tensor& a, const Tensor& b);

/// out = alpha * a @ b + beta * out, plus `bias` (one number per column, if given) where out is
/// row-major of shape [batch..., m, n] and the leading dims of a and b broadcast to the batch.
void multiply_into(const Tensor& out, const Tensor& a, const Tensor& b, Scalar alpha = 1,
                   Scalar beta = 0, kernel::OptionalIn bias = {});
/// a @ b for operands of at least two dims whose leading dims broadcast.
Tensor multiply(const Tensor& a, const Tensor& b, std::string_view op);

/// What a product saves for backward: the gradient of each operand reads the other operand, so an
/// operand is only saved when the other one is differentiated.
inline Save save_beside(const Tensor& operand, const Tensor& other) {
  return {requires_grad(other) || tangent(other).defined() ? operand : Tensor()};
}

/// Records op(a, b), a product whose gradients read the other operand.
template <class Op>
Tensor record_product(const Tensor& output, const Tensor& a, const Tensor& b) {
  return record<Op>(output, {a, b}, {}, {save_beside(a, b), save_beside(b, a)});
}

}  // namespace eg
