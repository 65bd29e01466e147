#include "dispatch/order_ops.h"

#include <cmath>
#include <limits>

#include "backend/cpu/order.h"
#include "dispatch/factories.h"
#include "dispatch/index_ops.h"
#include "dispatch/minmax_ops.h"
#include "dispatch/softmax_rows.h"
#include "dispatch/view_ops.h"

namespace eg {
namespace {

// A row of every dimension but `dim`, from an element of the sorted order on.
struct Part {
  std::int64_t dim;
  bool descending;
  std::int64_t first;
  std::int64_t count;
};

Tensor indices_of(const Tensor& input, const Part& part) {
  const Tensor x = input.is_contiguous() ? input : contiguous_copy(input);
  Shape shape = x.shape();
  if (!shape.empty()) shape[static_cast<std::size_t>(part.dim)] = part.count;
  const Tensor indices = Tensor::empty(shape, DType::kInt64, x.device());
  if (indices.numel() > 0) {
    cpu::order_rows(rows_along(x, part.dim), x.data(), part.descending, part.first, part.count,
                    indices.data_as<std::int64_t>());
  }
  return indices;
}

Tensor values_at(const Tensor& input, std::int64_t dim, const Tensor& indices) {
  return Gather::call(detach(input), dim, indices);
}

template <class Op>
TensorList record_chosen(const Tensor& values, const Tensor& indices, const Tensor& input,
                         const ChosenAttrs& attrs) {
  const TensorList outputs{values, indices};
  record<Op>(outputs, std::span(&input, 1), attrs, {{indices}});
  return outputs;
}

// The indices have no gradient: one for them alone reaches here as nothing.
GradList chosen_gradient(const Tensor& grad, const Tensor& indices, const ChosenAttrs& attrs) {
  if (!grad.defined()) return GradList(1);
  const auto in_place = [&](const Tensor& t) {
    return attrs.is_squeezed ? Unsqueeze::call(t, attrs.dim) : t;
  };
  const Tensor zeros = full(attrs.input_shape, 0, grad.dtype(), grad.device());
  return {ScatterAdd::call(zeros, attrs.dim, in_place(indices), in_place(grad))};
}

std::int64_t size_along(const Tensor& t, std::int64_t dim) {
  return t.ndim() == 0 ? 1 : t.size(dim);
}

// Where the median of `count` elements is in their order.
std::int64_t middle(std::int64_t count) { return (count - 1) / 2; }

// A median of elements that have a NaN is NaN: the first.
Tensor median_indices(const Tensor& input, std::int64_t dim) {
  Tensor places = indices_of(input, {dim, false, middle(size_along(input, dim)), 1});
  if (!is_floating(input.dtype())) return places;
  const Var largest = indices_of(input, {dim, true, 0, 1});
  const Var extreme = values_at(input, dim, largest.tensor());
  return where(extreme != extreme, largest, places).tensor();
}

Tensor median_of_all(const Tensor& input) {
  check(input.numel() > 0 || is_floating(input.dtype()), ErrorCode::kInvalidArgument,
        Median::doc.name, "the median of no integers is undefined.");
  if (input.numel() == 0) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return full({}, nan, input.dtype(), input.device());
  }
  const Tensor flat = Reshape::call(detach(input), {-1});
  const Tensor value = values_at(flat, 0, median_indices(flat, 0));
  return value.alias({}, {}, value.offset());
}

}  // namespace

TensorList Sort::call(const Tensor& input, std::int64_t dim, bool descending, bool) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const Tensor indices = indices_of(input, {d, descending, 0, size_along(input, d)});
  return record_chosen<Sort>(values_at(input, d, indices), indices, input, {input.shape(), d});
}
GradList Sort::backward(const Backward<Sort>& b) {
  return chosen_gradient(b.grad(), b.saved(0), b.attrs());
}

Tensor Argsort::call(const Tensor& input, std::int64_t dim, bool descending, bool) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  return indices_of(input, {d, descending, 0, size_along(input, d)});
}

TensorList Topk::call(const Tensor& input, std::int64_t k, std::int64_t dim, bool largest, bool) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  check(k >= 0 && k <= size_along(input, d), ErrorCode::kIndexOutOfRange, doc.name,
        "selected index k out of range: ", k, " of ", size_along(input, d), " elements.");
  // A 0-dim tensor has its one element, also when none is asked for.
  const std::int64_t count = input.ndim() == 0 ? 1 : k;
  const Tensor indices = indices_of(input, {d, largest, 0, count});
  return record_chosen<Topk>(values_at(input, d, indices), indices, input, {input.shape(), d});
}
GradList Topk::backward(const Backward<Topk>& b) {
  return chosen_gradient(b.grad(), b.saved(0), b.attrs());
}

OneOrMore Median::call(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  check(input.dtype() != DType::kBool, ErrorCode::kDtypeMismatch, doc.name,
        "not implemented for bool.");
  if (!dim.has_value()) {
    const Tensor result = median_of_all(input);
    const ReducedDims all = reduced_dims({}, false, input.ndim(), doc.name);
    return {{record<Amax>(result, {input}, {all, true}, {{input}, {result, true}})}};
  }
  const std::int64_t d = wrap_dim(*dim, input.ndim(), doc.name);
  if (input.ndim() > 0) check_not_empty(input, {{d}}, true, doc.name);
  Tensor indices = median_indices(input, d);
  Tensor values = values_at(input, d, indices);
  const bool is_squeezed = !keepdim && input.ndim() > 0;
  if (is_squeezed) {
    Shape shape = indices.shape();
    shape.erase(static_cast<std::size_t>(d));
    const Strides strides = contiguous_strides(shape);
    indices = indices.alias(shape, strides, indices.offset());
    values = values.alias(shape, strides, values.offset());
  }
  return {record_chosen<Median>(values, indices, input, {input.shape(), d, is_squeezed})};
}
GradList Median::backward(const Backward<Median>& b) {
  return chosen_gradient(b.grad(), b.saved(0), b.attrs());
}

}  // namespace eg
