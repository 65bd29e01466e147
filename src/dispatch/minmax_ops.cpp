#include "dispatch/minmax_ops.h"

#include <numeric>

#include "backend/cpu/arg_reduce.h"
#include "dispatch/copy_ops.h"
#include "dispatch/reduction_ops.h"

namespace eg {
namespace {

// Narrow integers are folded as int64, which has kernels.
DType compute_dtype(DType dtype) { return is_floating(dtype) ? dtype : DType::kInt64; }

template <class Op>
Tensor extremum(cpu::Fold fold, const Tensor& input, const ReducedDims& reduced, bool nans_share) {
  const Tensor folded = run_reduction({.fold = fold, .compute = compute_dtype(input.dtype())}, input, reduced);
  const Tensor result = ToDType::call(folded, input.dtype());
  return record<Op>(result, {input}, {reduced, nans_share}, {{input}, {result, true}});
}

template <class Op>
Tensor extremum_along(cpu::Fold fold, const Tensor& input, const std::optional<Dims>& dim, bool keepdim) {
  const ReducedDims reduced = reduced_dims(dim, keepdim, input.ndim(), Op::doc.name);
  check_not_empty(input, reduced, dim.has_value(), Op::doc.name);
  return extremum<Op>(fold, input, reduced, false);
}

template <class Op>
GradList extremum_gradient(const Backward<Op>& b) {
  const auto& [reduced, nans_share] = b.attrs();
  const Tensor input = b.saved(0);
  const Var x = input;
  const Var y = unreduce(b.saved(1), reduced, input.shape());
  Var mask = x == y;
  if (nans_share) mask = mask | ((x != x) & (y != y));
  const Var ties = Sum::call(mask.tensor(), reduced.dims, reduced.keepdim);
  const Var share = Var(b.grad()) / ties;
  return {(Var(unreduce(share.tensor(), reduced, input.shape())) * mask).tensor()};
}

struct Selected {
  Tensor values;
  Tensor indices;
};

// `dim` is wrapped.
Selected select_along(bool largest, const Tensor& input, std::int64_t dim, bool keepdim) {
  // A 0-dim tensor is a row of one.
  const Shape shape = input.ndim() == 0 ? Shape{1} : input.shape();
  const Strides strides = input.ndim() == 0 ? Strides{1} : input.strides();
  const Shape result_shape =
      input.ndim() == 0 ? Shape{} : ReducedDims{{dim}, keepdim}.result_shape(input.shape());
  const Tensor values = Tensor::empty(result_shape, compute_dtype(input.dtype()), input.device());
  const Tensor indices = Tensor::empty(result_shape, DType::kInt64, input.device());
  cpu::arg_reduce(largest, shape, dim, {input.data(), input.dtype(), strides}, values.data(),
                  indices.data_as<std::int64_t>());
  return {ToDType::call(values, input.dtype()), indices};
}

std::int64_t checked_dim(const Tensor& input, std::int64_t dim, std::string_view op) {
  const std::int64_t wrapped = wrap_dim(dim, input.ndim(), op);
  if (input.ndim() > 0) check_not_empty(input, {{wrapped}}, true, op);
  return wrapped;
}

template <class Op, class FullOp>
OneOrMore select(bool largest, const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  if (!dim.has_value()) {
    const ReducedDims all = reduced_dims({}, false, input.ndim(), Op::doc.name);
    check_not_empty(input, all, false, Op::doc.name);
    return {{extremum<FullOp>(largest ? cpu::Fold::kMax : cpu::Fold::kMin, input, all, true)}};
  }
  const std::int64_t wrapped = checked_dim(input, *dim, Op::doc.name);
  const Selected selected = select_along(largest, input, wrapped, keepdim);
  const std::array<Tensor, 2> outputs{selected.values, selected.indices};
  record<Op>(outputs, std::span(&input, 1), {input.shape(), wrapped, keepdim}, {{selected.indices}});
  return {{selected.values, selected.indices}};
}

// The chosen elements are those whose position along dim is the index.
template <class Op>
GradList select_gradient(const Backward<Op>& b) {
  const auto& [shape, dim, keepdim] = b.attrs();
  if (!b.grad().defined()) return GradList(1);
  if (shape.empty()) return {b.grad()};
  const auto axis = static_cast<std::size_t>(dim);
  const Tensor positions = Tensor::empty({shape[axis]}, DType::kInt64, b.grad().device());
  auto* data = positions.data_as<std::int64_t>();
  std::iota(data, data + shape[axis], 0);
  Strides along(shape.size());
  along[axis] = 1;
  const ReducedDims reduced{{dim}, keepdim};
  const Var chosen = Var(positions.alias(shape, along, 0)) == Var(unreduce(b.saved(0), reduced, shape));
  return {where(chosen, unreduce(b.grad(), reduced, shape), 0).tensor()};
}

Tensor arg_extremum(bool largest, const Tensor& input, std::optional<std::int64_t> dim, bool keepdim,
                    std::string_view op) {
  const Tensor x = detach(input);
  if (dim.has_value()) return select_along(largest, x, checked_dim(x, *dim, op), keepdim).indices;
  const ReducedDims all = reduced_dims({}, keepdim, x.ndim(), op);
  check_not_empty(x, all, false, op);
  // Positions count in row-major order, whatever the strides are.
  const Tensor packed = Contiguous::call(x);
  const Tensor index = select_along(largest, packed.alias({x.numel()}, {1}, packed.offset()), 0, false).indices;
  const Shape shape = all.result_shape(x.shape());
  return index.alias(shape, contiguous_strides(shape), 0);
}

}  // namespace

Tensor Amax::call(const Tensor& input, const std::optional<Dims>& dim, bool keepdim) {
  return extremum_along<Amax>(cpu::Fold::kMax, input, dim, keepdim);
}
GradList Amax::backward(const Backward<Amax>& b) { return extremum_gradient(b); }

Tensor Amin::call(const Tensor& input, const std::optional<Dims>& dim, bool keepdim) {
  return extremum_along<Amin>(cpu::Fold::kMin, input, dim, keepdim);
}
GradList Amin::backward(const Backward<Amin>& b) { return extremum_gradient(b); }

OneOrMore Max::call(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return select<Max, Amax>(true, input, dim, keepdim);
}
GradList Max::backward(const Backward<Max>& b) { return select_gradient(b); }

OneOrMore Min::call(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return select<Min, Amin>(false, input, dim, keepdim);
}
GradList Min::backward(const Backward<Min>& b) { return select_gradient(b); }

Tensor Argmax::call(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return arg_extremum(true, input, dim, keepdim, doc.name);
}

Tensor Argmin::call(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return arg_extremum(false, input, dim, keepdim, doc.name);
}

}  // namespace eg
