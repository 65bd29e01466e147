#include "ops/nn/softmax.h"

#include "dispatch/factories.h"
#include "kernels/softmax.h"
#include "ops/create/copy.h"
#include "ops/nn/softmax_rows.h"
#include "ops/reduce/reduction.h"

namespace eg {
namespace {

using kernel::SoftmaxKind;

template <class Op>
Tensor normalize(SoftmaxKind kind, const Tensor& input, std::int64_t dim,
                 std::optional<DType> dtype) {
  const Tensor x = dtype.has_value() ? ToDType::call(input, *dtype) : input;
  check(is_floating(x.dtype()), ErrorCode::kDtypeMismatch, Op::doc.name, "not implemented for ",
        x.dtype(), ". Convert with to('float32').");
  const std::int64_t wrapped = wrap_dim(dim, x.ndim(), Op::doc.name);
  const Tensor source = packed(x);
  const Tensor result = Tensor::empty(x.shape(), x.dtype(), x.device());
  run(kernel::Softmax{kind, rows_along(source, wrapped), source.memory(), result.memory()});
  return record<Op>(result, {x}, {wrapped}, {{result, true}});
}

Tensor run_backward(SoftmaxKind kind, const Tensor& grad, const Tensor& output, std::int64_t dim) {
  const Tensor g = packed(grad);
  const Tensor result = Tensor::empty(g.shape(), g.dtype(), g.device());
  run(kernel::SoftmaxBackward{kind, rows_along(g, dim), g.memory(), output.memory(),
                              result.memory()});
  return result;
}

Var sum_along(const Var& x, std::int64_t dim) { return Sum::call(x, Dims{dim}, true); }

}  // namespace

kernel::Rows rows_along(const Tensor& t, std::int64_t dim) {
  kernel::Rows rows;
  for (std::int64_t d = 0; d < t.ndim(); ++d)
    (d < dim ? rows.outer : d > dim ? rows.inner : rows.size) *= t.size(d);
  return rows;
}

Tensor Softmax::call(const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
  return normalize<Softmax>(SoftmaxKind::kPlain, input, dim, dtype);
}

GradList Softmax::backward(const Backward<Softmax>& b) {
  const std::int64_t dim = b.attrs().dim;
  if (!ops_are_differentiated())
    return {run_backward(SoftmaxKind::kPlain, b.grad(), b.saved(0), dim)};
  const Var y = b.saved(0);
  const Var gy = b.grad() * y;
  return {gy - y * sum_along(gy, dim)};
}

Tensor LogSoftmax::call(const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
  return normalize<LogSoftmax>(SoftmaxKind::kLog, input, dim, dtype);
}

GradList LogSoftmax::backward(const Backward<LogSoftmax>& b) {
  const std::int64_t dim = b.attrs().dim;
  if (!ops_are_differentiated())
    return {run_backward(SoftmaxKind::kLog, b.grad(), b.saved(0), dim)};
  const Var g = b.grad();
  return {g - exp(b.saved(0)) * sum_along(g, dim)};
}

Tensor Softmin::call(const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
  return Softmax::call(-input, dim, dtype);
}

}  // namespace eg
