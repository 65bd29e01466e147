#include "ops/matrix/matmul.h"

#include <algorithm>

#include "autograd/tensor_math.h"
#include "dispatch/factories.h"
#include "dispatch/precision.h"
#include "formulas/all.h"
#include "ops/complex/complex.h"
#include "ops/matrix/matrix_product.h"
#include "ops/matrix/quantized.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse_product.h"

namespace eg {
namespace {

// The gradients of a product of operands with the same batch dimensions.
template <class Op>
GradList product_gradients(const Backward<Op>& b) {
  GradList grads(2);
  if (b.needs(0)) grads[0] = Op::call(b.grad(), adjoint(b.saved(1)));
  if (b.needs(1)) grads[1] = Op::call(adjoint(b.saved(0)), b.grad());
  return grads;
}

// The recorded part of matmul for operands with different batch dimensions.
struct BroadcastProduct {
  static constexpr op::Doc doc = Matmul::doc;
  static Tensor call(const Tensor& a, const Tensor& b) {
    check_inner_sizes(doc.name, a, b);
    check_operands(doc.name, a, b);
    return record<BroadcastProduct>(multiply(a, b, doc.name), {a, b}, {a.shape(), b.shape()},
                                    {save_beside(a, b), save_beside(b, a)});
  }

  /// The shapes of the operands, which are needed even for an operand that is not saved.
  struct Attrs {
    Shape a;
    Shape b;
  };
  static constexpr std::array<std::string_view, 2> saved_names{"self", "other"};
  static GradList backward(const Backward<BroadcastProduct>& b) {
    const Tensor& g = b.grad();
    GradList grads(2);
    if (b.needs(0)) grads[0] = math::sum_to(matmul(g, adjoint(b.saved(1))), b.attrs().a);
    if (!b.needs(1)) return grads;
    const Tensor a = b.saved(0);
    // A single matrix multiplies all matrices of the batch like one tall matrix, so its gradient is
    // one product.
    grads[1] = b.attrs().b.size() == 2 ? Mm::call(adjoint(folded(a)), folded(g))
                                       : math::sum_to(matmul(adjoint(a), g), b.attrs().b);
    return grads;
  }
};

Tensor scaled(const Tensor& t, Scalar factor) {
  return factor.to<double>() == 1 ? t : call<op::Mul>(t, Operand(factor));
}

bool is_vector_of(const Tensor& t, std::int64_t size) {
  return t.ndim() == 1 && t.shape()[0] == size && t.is_contiguous();
}

// Forward of addmm and baddbmm, after the product has been checked.
Tensor add_product(std::string_view op, const Tensor& input, const Tensor& a, const Tensor& b,
                   Scalar beta, Scalar alpha) {
  check(input.dtype() == b.dtype(), ErrorCode::kDtypeMismatch, op,
        "input and the factors must have the same dtype, got ", input.dtype(), " and ", b.dtype(),
        '.');
  check_factor(op, "alpha", alpha, b.dtype());
  check_factor(op, "beta", beta, b.dtype());
  Shape shape = a.shape();
  shape.back() = b.shape().back();
  check(is_expandable_to(input.shape(), shape), ErrorCode::kShapeMismatch, op, "input of shape ",
        input.shape(), " cannot be expanded to the shape of the product, ", shape, '.');
  const Tensor out = Tensor::empty(shape, b.dtype(), b.device());
  const double factor = beta.to<double>();
  if (factor == 1 && is_floating(b.dtype()) && is_vector_of(input, shape.back())) {
    multiply_into(out, a, b, alpha, 0, input.memory());
  } else {
    if (factor != 0) copy_data(out, input);
    multiply_into(out, a, b, alpha, beta);
  }
  return out;
}

template <class Op>
Tensor record_sum(const Tensor& output, const Tensor& input, const Tensor& a, const Tensor& b,
                  Scalar beta, Scalar alpha) {
  return record<Op>(output, {input, a, b}, {input.shape(), beta, alpha},
                    {save_beside(a, b), save_beside(b, a)});
}

// The gradients of addmm and baddbmm; Product is mm or bmm.
template <class Product, class Op>
GradList sum_gradients(const Backward<Op>& b) {
  const auto& [input_shape, beta, alpha] = b.attrs();
  const Tensor& g = b.grad();
  GradList grads(3);
  if (b.needs(0)) grads[0] = math::sum_to(scaled(g, beta), input_shape);
  if (b.needs(1)) grads[1] = scaled(Product::call(g, adjoint(b.saved(1))), alpha);
  if (b.needs(2)) grads[2] = scaled(Product::call(adjoint(b.saved(0)), g), alpha);
  return grads;
}

// The node of linear. As in PyTorch it is an addmm, or an mm without bias, with the same order of
// inputs.
template <bool kHasBias>
struct LinearNode {
  static constexpr op::Doc doc = kHasBias ? Addmm::doc : Mm::doc;
  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"input", "weight"};
  static GradList backward(const Backward<LinearNode>& b) {
    constexpr std::size_t kInput = kHasBias ? 1 : 0;
    constexpr std::size_t kWeight = kInput + 1;
    const Tensor& g = b.grad();
    GradList grads(kWeight + 1);
    if (kHasBias && b.needs(0)) grads[0] = math::sum_to(g, {g.shape().back()});
    if (b.needs(kInput)) grads[kInput] = matmul(g, b.saved(1));
    if (b.needs(kWeight)) grads[kWeight] = Mm::call(transposed(folded(g)), folded(b.saved(0)));
    return grads;
  }
};

}  // namespace

Tensor Mm::call(const Tensor& input, const Tensor& mat2) {
  check_matrices(doc.name, input, mat2);
  if (input.is_sparse() || mat2.is_sparse()) return sparse_product(input, mat2);
  return record_product<Mm>(multiply(input, mat2, doc.name), input, mat2);
}

GradList Mm::backward(const Backward<Mm>& b) { return product_gradients(b); }

Tensor Bmm::call(const Tensor& input, const Tensor& mat2) {
  check_batches(doc.name, input, mat2);
  return record_product<Bmm>(multiply(input, mat2, doc.name), input, mat2);
}

GradList Bmm::backward(const Backward<Bmm>& b) { return product_gradients(b); }

Tensor Mv::call(const Tensor& input, const Tensor& vec) {
  check(input.ndim() == 2 && vec.ndim() == 1, ErrorCode::kShapeMismatch, doc.name,
        "expected a matrix and a vector, got shapes ", input.shape(), " and ", vec.shape(), '.');
  check(input.shape()[1] == vec.shape()[0], ErrorCode::kShapeMismatch, doc.name,
        "a matrix of shape ", input.shape(), " cannot be multiplied by a vector of shape ",
        vec.shape(), '.');
  if (input.is_sparse()) return Squeeze::call(Mm::call(input, Unsqueeze::call(vec, 1)), Dims{1});
  check_operands(doc.name, input, vec);
  const Tensor out = Tensor::empty({input.shape()[0]}, input.dtype(), input.device());
  run(kernel::MatrixProduct{.sizes = {{}, out.numel(), 1, vec.numel()},
                            .a = input.memory(),
                            .a_layout = matrix_layout(input),
                            .b = vec.memory(),
                            .b_layout = transposed(row_layout(vec)),
                            .c = out.memory(),
                            .c_layout = transposed(row_layout(out))});
  return record_product<Mv>(out, input, vec);
}

GradList Mv::backward(const Backward<Mv>& b) {
  GradList grads(2);
  if (b.needs(0)) grads[0] = Outer::call(b.grad(), Conj::call(b.saved(1)));
  if (b.needs(1)) grads[1] = Mv::call(adjoint(b.saved(0)), b.grad());
  return grads;
}

Tensor Dot::call(const Tensor& input, const Tensor& tensor) {
  check(input.ndim() == 1 && tensor.ndim() == 1, ErrorCode::kShapeMismatch, doc.name,
        "expected two vectors, got ", input.ndim(), " and ", tensor.ndim(), " dimensions.");
  check(input.numel() == tensor.numel(), ErrorCode::kShapeMismatch, doc.name,
        "the vectors must have the same size, got ", input.numel(), " and ", tensor.numel(), '.');
  check_operands(doc.name, input, tensor);
  const Tensor out = Tensor::empty({}, input.dtype(), input.device());
  run(kernel::MatrixProduct{.sizes = {{}, 1, 1, input.numel()},
                            .a = input.memory(),
                            .a_layout = row_layout(input),
                            .b = tensor.memory(),
                            .b_layout = transposed(row_layout(tensor)),
                            .c = out.memory(),
                            .c_layout = {{}, 1, 1}});
  return record_product<Dot>(out, input, tensor);
}

GradList Dot::backward(const Backward<Dot>& b) {
  GradList grads(2);
  if (b.needs(0)) grads[0] = eg::call<op::Mul>(b.grad(), Conj::call(b.saved(1)));
  if (b.needs(1)) grads[1] = eg::call<op::Mul>(b.grad(), Conj::call(b.saved(0)));
  return grads;
}

Tensor Matmul::call(const Tensor& input, const Tensor& other) {
  const std::int64_t ndim = input.ndim();
  const std::int64_t other_ndim = other.ndim();
  check(ndim >= 1 && other_ndim >= 1, ErrorCode::kShapeMismatch, doc.name,
        "both operands must have at least 1 dimension, got ", ndim, " and ", other_ndim, '.');
  if (ndim == 2 && other_ndim == 2) return Mm::call(input, other);
  if (ndim == 1 && other_ndim == 1) return Dot::call(input, other);
  if (ndim == 2 && other_ndim == 1) return Mv::call(input, other);
  if (ndim == 1) return Squeeze::call(call(Unsqueeze::call(input, 0), other), Dims{-2});
  if (other_ndim == 1) return Squeeze::call(call(input, Unsqueeze::call(other, 1)), Dims{-1});
  if (ndim == 3 && other_ndim == 3 && input.shape()[0] == other.shape()[0])
    return Bmm::call(input, other);
  return BroadcastProduct::call(input, other);
}

Tensor Addmm::call(const Tensor& input, const Tensor& mat1, const Tensor& mat2, Scalar beta,
                   Scalar alpha) {
  check_matrices(doc.name, mat1, mat2);
  if (mat1.is_sparse() || mat2.is_sparse())
    return eg::call<op::Add>(scaled(input, beta), scaled(sparse_product(mat1, mat2), alpha));
  const Tensor out = add_product(doc.name, input, mat1, mat2, beta, alpha);
  return record_sum<Addmm>(out, input, mat1, mat2, beta, alpha);
}

GradList Addmm::backward(const Backward<Addmm>& b) { return sum_gradients<Mm>(b); }

Tensor Baddbmm::call(const Tensor& input, const Tensor& batch1, const Tensor& batch2, Scalar beta,
                     Scalar alpha) {
  check_batches(doc.name, batch1, batch2);
  const Tensor out = add_product(doc.name, input, batch1, batch2, beta, alpha);
  return record_sum<Baddbmm>(out, input, batch1, batch2, beta, alpha);
}

GradList Baddbmm::backward(const Backward<Baddbmm>& b) { return sum_gradients<Bmm>(b); }

namespace {

// Linear of operands that have no half precision.
Tensor whole_linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  constexpr std::string_view op = Linear::doc.name;
  const bool is_plain = input.ndim() >= 1 && weight.ndim() == 2 && is_floating(input.dtype()) &&
                        (!bias || is_vector_of(*bias, weight.shape()[0]));
  if (!is_plain) {
    const Tensor product =
        matmul(input, weight.ndim() == 2 ? Transpose::call(weight, 0, 1) : weight);
    return bias ? eg::call<op::Add>(product, *bias) : product;
  }
  const std::int64_t in_features = weight.shape()[1];
  check(input.shape().back() == in_features, ErrorCode::kShapeMismatch, op, "input of shape ",
        input.shape(), " must have ", in_features, " features, as weight of shape ", weight.shape(),
        " has.");
  check_operands(op, input, weight);
  if (bias) check_operands(op, input, *bias);

  Shape shape = input.shape();
  shape.back() = weight.shape()[0];
  const Tensor out = Tensor::empty(shape, input.dtype(), input.device());
  const std::size_t batch_dims = shape.size() > 2 ? shape.size() - 2 : 0;
  const std::span<const std::int64_t> batch(shape.data(), batch_dims);
  const bool is_row = shape.size() == 1;
  const std::int64_t rows = is_row ? 1 : shape[batch_dims];
  run(kernel::MatrixProduct{.sizes = {Shape(batch), rows, shape.back(), in_features},
                            .a = input.memory(),
                            .a_layout = is_row ? row_layout(input) : matrix_layout(input, batch),
                            .b = weight.memory(),
                            .b_layout = transposed(matrix_layout(weight, batch)),
                            .c = out.memory(),
                            .c_layout = is_row ? row_layout(out) : matrix_layout(out, batch),
                            .bias = bias ? bias->memory() : kernel::OptionalIn()});
  const Save saved_input = save_beside(input, weight);
  const Save saved_weight = save_beside(weight, input);
  return bias ? record<LinearNode<true>>(out, {*bias, input, weight}, {},
                                         {saved_input, saved_weight})
              : record<LinearNode<false>>(out, {input, weight}, {}, {saved_input, saved_weight});
}

}  // namespace

// Like an op of Precision::kLower, but for weights that are not trained: they are not converted.
Tensor Linear::call(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  const bool is_cast = is_half(autograd_state().autocast);
  const bool has_stored =
      is_stored(input.dtype()) || is_stored(weight.dtype()) || (bias && is_stored(bias->dtype()));
  if (!is_cast && !has_stored) return whole_linear(input, weight, bias);
  if (!is_cast) {
    if (const std::optional<Tensor> result = linear_of_halves(input, weight, bias)) return *result;
  }
  CallOperands operands(Precision::kLower);
  const Tensor x = operands.prepared(input);
  const Tensor w = operands.prepared(weight);
  const std::optional<Tensor> b = bias ? std::optional(operands.prepared(*bias)) : std::nullopt;
  Tensor result = whole_linear(x, w, b);
  if (operands.has_stored()) operands.finish({&result, 1});
  return result;
}

Tensor Bilinear::call(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                      const std::optional<Tensor>& bias) {
  check(input1.ndim() == input2.ndim(), ErrorCode::kShapeMismatch, doc.name,
        "input1 and input2 must have the same number of dimensions, got ", input1.ndim(), " and ",
        input2.ndim(), '.');
  check(weight.ndim() == 3, ErrorCode::kShapeMismatch, doc.name,
        "weight must have 3 dimensions, got shape ", weight.shape(), '.');
  const Shape& sizes = weight.shape();
  check(input1.size(-1) == sizes[1] && input2.size(-1) == sizes[2], ErrorCode::kShapeMismatch,
        doc.name, "input1 and input2 must have ", sizes[1], " and ", sizes[2], " features, got ",
        input1.size(-1), " and ", input2.size(-1), '.');
  const Tensor rows =
      Linear::call(input2, Reshape::call(weight, {sizes[0] * sizes[1], sizes[2]}), {});
  Shape shape = rows.shape();
  shape.back() = sizes[0];
  shape.push_back(sizes[1]);
  const Tensor columns = matmul(Reshape::call(rows, shape), Unsqueeze::call(input1, -1));
  const Tensor product = Squeeze::call(columns, Dims{-1});
  return bias ? eg::call<op::Add>(product, *bias) : product;
}

Tensor Outer::call(const Tensor& input, const Tensor& vec2) {
  check(input.ndim() == 1, ErrorCode::kShapeMismatch, doc.name, "input must be a vector, got ",
        input.ndim(), " dimensions.");
  check(vec2.ndim() == 1, ErrorCode::kShapeMismatch, doc.name, "vec2 must be a vector, got ",
        vec2.ndim(), " dimensions.");
  return eg::call<op::Mul>(Unsqueeze::call(input, 1), vec2);
}

}  // namespace eg
