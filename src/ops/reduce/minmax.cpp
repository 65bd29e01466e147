#include "ops/reduce/minmax.h"

#include <numeric>

#include "dispatch/transfer.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/reduce/reduction.h"

namespace eg {
namespace {

// Narrow integers are reduced as int64, the only integer dtype with kernels.
DType compute_dtype(DType dtype) { return is_integral(dtype) ? DType::kInt64 : dtype; }

Tensor run_extremum(kernel::Fold fold, const Tensor& input, const ReducedDims& reduced) {
  const kernel::Reduction reduction{.fold = fold, .compute = compute_dtype(input.dtype())};
  return ToDType::call(run_reduction(reduction, input, reduced), input.dtype());
}

template <class Op>
Tensor record_extremum(const Tensor& result, const Tensor& input, const ExtremumAttrs& attrs) {
  return record<Op>(result, {input}, attrs, {{input}, {result, true}});
}

ReducedDims checked_dims(const Tensor& input, const std::optional<Dims>& dim, bool keepdim,
                         std::string_view op) {
  ReducedDims reduced = reduced_dims(dim, keepdim, input.ndim(), op);
  check_not_empty(input, reduced, dim.has_value(), op);
  return reduced;
}

Tensor extremum_gradient(const Tensor& grad, const Tensor& input, const Tensor& output,
                         const ExtremumAttrs& attrs) {
  const Var x = input;
  const Var y = unreduce(output, attrs.reduced, input.shape());
  Var mask = x == y;
  if (attrs.is_chosen) mask = mask | ((x != x) & (y != y));
  const Var ties = Sum::call(mask, attrs.reduced.dims, attrs.reduced.keepdim);
  const Var share = unreduce(grad / ties, attrs.reduced, input.shape());
  return attrs.is_chosen ? where(mask, share, 0) : share * mask;
}

struct Selected {
  Tensor values;
  Tensor indices;
};

// `dim` must not be negative.
Selected select_along(bool largest, const Tensor& input, std::int64_t dim, bool keepdim) {
  // A 0-dim tensor is treated as a row of one element.
  const Shape shape = input.ndim() == 0 ? Shape{1} : input.shape();
  const Strides strides = input.ndim() == 0 ? Strides{1} : input.strides();
  const Shape result_shape =
      input.ndim() == 0 ? Shape{} : ReducedDims{{dim}, keepdim}.result_shape(input.shape());
  const Tensor values = Tensor::empty(result_shape, compute_dtype(input.dtype()), input.device());
  const Tensor indices = Tensor::empty(result_shape, DType::kInt64, input.device());
  run(kernel::ArgReduce{largest, shape, dim, input.memory(), strides, values.memory(),
                        indices.memory()});
  return {ToDType::call(values, input.dtype()), indices};
}

std::int64_t checked_dim(const Tensor& input, std::int64_t dim, std::string_view op) {
  const std::int64_t wrapped = wrap_dim(dim, input.ndim(), op);
  if (input.ndim() > 0) check_not_empty(input, {{wrapped}}, true, op);
  return wrapped;
}

// max and min: of all elements, of two tensors, or along a dimension.
template <class Op, class FullOp, class PairOp>
OneOrMore select(bool largest, const Tensor& input, const std::optional<Operand>& dim,
                 bool keepdim) {
  if (!dim.has_value()) {
    const ReducedDims all = checked_dims(input, {}, false, Op::doc.name);
    const Tensor result =
        run_extremum(largest ? kernel::Fold::kMax : kernel::Fold::kMin, input, all);
    return {{record_extremum<FullOp>(result, input, {all, true})}};
  }
  if (!dim->tensor().is_wrapped_number()) return {{call<PairOp>(input, dim->tensor())}};
  check(dim->tensor().dtype() == DType::kInt64, ErrorCode::kInvalidArgument, Op::doc.name,
        "expected an integer dim, or a tensor to compare with.");
  const std::int64_t wrapped =
      checked_dim(input, dim->tensor().data_as<std::int64_t>()[0], Op::doc.name);
  const Selected selected = select_along(largest, input, wrapped, keepdim);
  const std::array<Tensor, 2> outputs{selected.values, selected.indices};
  record<Op>(outputs, std::span(&input, 1), {input.shape(), wrapped, keepdim},
             {{selected.indices}});
  return {{selected.values, selected.indices}};
}

// The gradient goes to the elements whose position along dim is the index.
Tensor select_gradient(const Tensor& grad, const Tensor& indices, const SelectedAttrs& attrs) {
  const auto& [shape, dim, keepdim] = attrs;
  if (shape.empty()) return grad;
  const auto axis = static_cast<std::size_t>(dim);
  const Tensor counted = Tensor::empty({shape[axis]}, DType::kInt64);
  auto* data = counted.data_as<std::int64_t>();
  std::iota(data, data + shape[axis], 0);
  const Tensor positions = moved(counted, grad.device());
  Strides along(shape.size());
  along[axis] = 1;
  const ReducedDims reduced{{dim}, keepdim};
  const Var chosen = positions.alias(shape, along, 0) == unreduce(indices, reduced, shape);
  return where(chosen, unreduce(grad, reduced, shape), 0);
}

Tensor arg_extremum(bool largest, const Tensor& input, std::optional<std::int64_t> dim,
                    bool keepdim, std::string_view op) {
  const Tensor x = detach(input);
  if (dim.has_value()) return select_along(largest, x, checked_dim(x, *dim, op), keepdim).indices;
  const ReducedDims all = checked_dims(x, {}, keepdim, op);
  // The index counts in row-major order, whatever the strides are.
  const Tensor packed = Contiguous::call(x);
  const Tensor index =
      select_along(largest, packed.alias({x.numel()}, {1}, packed.offset()), 0, false).indices;
  const Shape shape = all.result_shape(x.shape());
  return index.alias(shape, contiguous_strides(shape), 0);
}

}  // namespace

Tensor Amax::call(const Tensor& input, const std::optional<Dims>& dim, bool keepdim) {
  const ReducedDims reduced = checked_dims(input, dim, keepdim, doc.name);
  const Tensor result = run_extremum(kernel::Fold::kMax, input, reduced);
  return record_extremum<Amax>(result, input, {reduced, false});
}
GradList Amax::backward(const Backward<Amax>& b) {
  return {extremum_gradient(b.grad(), b.saved(0), b.saved(1), b.attrs())};
}

Tensor Amin::call(const Tensor& input, const std::optional<Dims>& dim, bool keepdim) {
  const ReducedDims reduced = checked_dims(input, dim, keepdim, doc.name);
  const Tensor result = run_extremum(kernel::Fold::kMin, input, reduced);
  return record_extremum<Amin>(result, input, {reduced, false});
}
GradList Amin::backward(const Backward<Amin>& b) {
  return {extremum_gradient(b.grad(), b.saved(0), b.saved(1), b.attrs())};
}

OneOrMore Max::call(const Tensor& input, const std::optional<Operand>& dim, bool keepdim) {
  return select<Max, Amax, op::Maximum>(true, input, dim, keepdim);
}
// The indices have no gradient. The gradient of the values is undefined if only they were used.
GradList Max::backward(const Backward<Max>& b) {
  if (!b.grad().defined()) return GradList(1);
  return {select_gradient(b.grad(), b.saved(0), b.attrs())};
}

OneOrMore Min::call(const Tensor& input, const std::optional<Operand>& dim, bool keepdim) {
  return select<Min, Amin, op::Minimum>(false, input, dim, keepdim);
}
GradList Min::backward(const Backward<Min>& b) {
  if (!b.grad().defined()) return GradList(1);
  return {select_gradient(b.grad(), b.saved(0), b.attrs())};
}

Tensor Argmax::call(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return arg_extremum(true, input, dim, keepdim, doc.name);
}

Tensor Argmin::call(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return arg_extremum(false, input, dim, keepdim, doc.name);
}

}  // namespace eg
