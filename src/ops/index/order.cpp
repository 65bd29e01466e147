#include "ops/index/order.h"

#include <limits>

#include "dispatch/factories.h"
#include "formulas/all.h"
#include "kernels/order.h"
#include "ops/index/index.h"
#include "ops/reduce/minmax.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

template <class Op, class Find>
TensorList choose_one(const Tensor& input, std::int64_t dim, bool keepdim, Find find) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), Op::doc.name);
  if (input.ndim() > 0) check_not_empty(input, {{d}}, true, Op::doc.name);
  return choose<Op>(input, d, find(input, d), !keepdim);
}

// The position of the median among `count` sorted elements.
std::int64_t middle(std::int64_t count) { return (count - 1) / 2; }

// If an element is NaN, the median is NaN and its index is that of the first one.
Tensor median_indices(const Tensor& input, std::int64_t dim) {
  Tensor indices = ordered_indices(input, {dim, false, middle(row_size(input, dim)), 1});
  if (!is_floating(input.dtype())) return indices;
  const Var largest = ordered_indices(input, {dim, true, 0, 1});
  const Var extreme = values_at(input, dim, largest);
  return where(extreme != extreme, largest, indices);
}

// NaNs are sorted last, so the middle of the other elements depends on the number of NaNs.
Tensor nanmedian_indices(const Tensor& input, std::int64_t dim) {
  if (!is_floating(input.dtype())) return median_indices(input, dim);
  const Tensor order = ordered_indices(input, {dim, false, 0, row_size(input, dim)});
  const Var x = detach(input);
  const Tensor count = Sum::call(x == x, Dims{dim}, true);
  const Tensor last = eg::call<op::Maximum>(eg::call<op::Sub>(count, 1), 0);
  return Gather::call(order, dim, eg::call<op::FloorDivide>(last, 2));
}

using FindIndices = Tensor (*)(const Tensor& input, std::int64_t dim);

Tensor median_of_all(const Tensor& input, FindIndices find, std::string_view op) {
  check(input.numel() > 0 || is_floating(input.dtype()), ErrorCode::kInvalidArgument, op,
        "an empty tensor of integers has no median.");
  if (input.numel() == 0) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return full({}, nan, input.dtype(), input.device());
  }
  const Tensor flat = Reshape::call(detach(input), {-1});
  return without_dim(values_at(flat, 0, find(flat, 0)), 0);
}

template <class Op>
OneOrMore median(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim,
                 FindIndices find) {
  check(input.dtype() != DType::kBool, ErrorCode::kDtypeMismatch, Op::doc.name,
        "not implemented for bool.");
  if (!dim.has_value()) {
    const Tensor result = median_of_all(input, find, Op::doc.name);
    const ReducedDims all = reduced_dims({}, false, input.ndim(), Op::doc.name);
    return {{record<Amax>(result, {input}, {all, true}, {{input}, {result, true}})}};
  }
  return {choose_one<Op>(input, *dim, keepdim, find)};
}

Tensor running_extremes(bool largest, const Tensor& input, std::int64_t dim) {
  const auto find = [&](const kernel::Rows& rows, MemoryView x, MemoryView indices) {
    run(kernel::RunningExtreme{largest, rows, x, indices});
  };
  return found_indices(find, input, dim, row_size(input, dim));
}

}  // namespace

TensorList Sort::call(const Tensor& input, std::int64_t dim, bool descending, bool) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  return choose<Sort>(input, d, ordered_indices(input, {d, descending, 0, row_size(input, d)}));
}
GradList Sort::backward(const Backward<Sort>& b) {
  return chosen_gradient(b.grad(), b.saved(0), b.attrs());
}

Tensor Msort::call(const Tensor& input) { return Sort::call(input, 0)[0]; }

Tensor Argsort::call(const Tensor& input, std::int64_t dim, bool descending, bool) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  return ordered_indices(input, {d, descending, 0, row_size(input, d)});
}

TensorList Topk::call(const Tensor& input, std::int64_t k, std::int64_t dim, bool largest, bool) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  check(k >= 0 && k <= row_size(input, d), ErrorCode::kIndexOutOfRange, doc.name,
        "k must be in [0, ", row_size(input, d), "], got ", k, '.');
  // A 0-dim tensor returns its only element even for k = 0.
  const std::int64_t count = input.ndim() == 0 ? 1 : k;
  return choose<Topk>(input, d, ordered_indices(input, {d, largest, 0, count}));
}
GradList Topk::backward(const Backward<Topk>& b) {
  return chosen_gradient(b.grad(), b.saved(0), b.attrs());
}

TensorList Kthvalue::call(const Tensor& input, std::int64_t k, std::int64_t dim, bool keepdim) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  check(1 <= k && k <= row_size(input, d), ErrorCode::kIndexOutOfRange, doc.name,
        "k must be in [1, ", row_size(input, d), "] for dimension ", d, ", got ", k, '.');
  return choose<Kthvalue>(input, d, ordered_indices(input, {d, false, k - 1, 1}), !keepdim);
}
GradList Kthvalue::backward(const Backward<Kthvalue>& b) {
  return chosen_gradient(b.grad(), b.saved(0), b.attrs());
}

OneOrMore Median::call(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return median<Median>(input, dim, keepdim, median_indices);
}
GradList Median::backward(const Backward<Median>& b) {
  return chosen_gradient(b.grad(), b.saved(0), b.attrs());
}

OneOrMore Nanmedian::call(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return median<Nanmedian>(input, dim, keepdim, nanmedian_indices);
}
GradList Nanmedian::backward(const Backward<Nanmedian>& b) {
  return chosen_gradient(b.grad(), b.saved(0), b.attrs());
}

TensorList Mode::call(const Tensor& input, std::int64_t dim, bool keepdim) {
  return choose_one<Mode>(input, dim, keepdim, [](const Tensor& x, std::int64_t d) {
    const auto find = [](const kernel::Rows& rows, MemoryView in, MemoryView indices) {
      run(kernel::ModeRows{rows, in, indices});
    };
    return found_indices(find, x, d, 1);
  });
}
GradList Mode::backward(const Backward<Mode>& b) {
  return chosen_gradient(b.grad(), b.saved(0), b.attrs());
}

TensorList Cummax::call(const Tensor& input, std::int64_t dim) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  return choose<Cummax>(input, d, running_extremes(true, input, d));
}
GradList Cummax::backward(const Backward<Cummax>& b) {
  return chosen_gradient(b.grad(), b.saved(0), b.attrs());
}

TensorList Cummin::call(const Tensor& input, std::int64_t dim) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  return choose<Cummin>(input, d, running_extremes(false, input, d));
}
GradList Cummin::backward(const Backward<Cummin>& b) {
  return chosen_gradient(b.grad(), b.saved(0), b.attrs());
}

}  // namespace eg
