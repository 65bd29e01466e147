#include "ops/shape/slice.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "dispatch/factories.h"
#include "ops/shape/join.h"
#include "ops/shape/stride.h"

namespace eg {
namespace {

// Where a view lies in a tensor of some strides; the offset is relative to its first element.
struct Place {
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;
};

// The stride between `length` places that lie `step` apart. Where there is no second place the step
// may be anything, also what no stride can be.
std::int64_t step_of(std::int64_t length, std::int64_t stride, std::int64_t step) {
  return length > 1 ? stride * step : stride;
}

// One function per kind of view says where it lies. It serves the view itself, with the input's
// strides, and its gradient, with row-major ones.
Place place_of(const Slice::Attrs& a, const Strides& strides) {
  const auto dim = static_cast<std::size_t>(a.dim);
  Place place{a.input_shape, strides, a.start * strides[dim]};
  place.shape[dim] = a.length;
  place.strides[dim] = step_of(a.length, strides[dim], a.step);
  return place;
}

Place place_of(const Select::Attrs& a, const Strides& strides) {
  const auto dim = static_cast<std::size_t>(a.dim);
  Place place{a.input_shape, strides, a.index * strides[dim]};
  place.shape.erase(dim);
  place.strides.erase(dim);
  return place;
}

Place place_of(const Diagonal::Attrs& a, const Strides& strides) {
  const auto dim1 = static_cast<std::size_t>(a.dim1);
  const auto dim2 = static_cast<std::size_t>(a.dim2);
  const std::int64_t down = std::max<std::int64_t>(-a.offset, 0);
  const std::int64_t right = std::max<std::int64_t>(a.offset, 0);
  const std::int64_t length = std::min(a.input_shape[dim1] - down, a.input_shape[dim2] - right);
  Place place{a.input_shape, strides,
              length > 0 ? down * strides[dim1] + right * strides[dim2] : 0};
  for (const std::size_t dim : {std::max(dim1, dim2), std::min(dim1, dim2)}) {
    place.shape.erase(dim);
    place.strides.erase(dim);
  }
  place.shape.push_back(std::max<std::int64_t>(length, 0));
  place.strides.push_back(strides[dim1] + strides[dim2]);
  return place;
}

Place place_of(const Unfold::Attrs& a, const Strides& strides) {
  // A 0-dim tensor is one window.
  if (a.input_shape.empty()) return {{a.size}, {1}, 0};
  const auto dim = static_cast<std::size_t>(a.dim);
  Place place{a.input_shape, strides, 0};
  place.shape[dim] = (a.input_shape[dim] - a.size) / a.step + 1;
  place.strides[dim] = step_of(place.shape[dim], strides[dim], a.step);
  place.shape.push_back(a.size);
  place.strides.push_back(strides[dim]);
  return place;
}

template <class Op>
Tensor make_view(const Tensor& input, typename Op::Attrs attrs) {
  const Place place = place_of(attrs, input.strides());
  return record_view<Op>(input, place.shape, place.strides, input.offset() + place.offset, attrs);
}

template <class Op>
GradList view_gradient(const Backward<Op>& b) {
  const Strides strides = contiguous_strides(b.attrs().input_shape);
  Place place = place_of(b.attrs(), strides);
  return {as_strided_gradient(b.grad(), {b.attrs().input_shape, strides, std::move(place.shape),
                                         std::move(place.strides), place.offset})};
}

// The gradients of all outputs of a node; zeros stand in for those that did not come.
template <class Op, class ShapeOf>
TensorList all_gradients(const Backward<Op>& b, std::size_t count, ShapeOf&& shape_of) {
  const Tensor* model = nullptr;
  for (std::size_t i = 0; i < count && model == nullptr; ++i) {
    if (b.grad(i).defined()) model = &b.grad(i);
  }
  TensorList grads;
  for (std::size_t i = 0; i < count; ++i) {
    grads.push_back(b.grad(i).defined() ? b.grad(i)
                                        : full(shape_of(i), 0, model->dtype(), model->device()));
  }
  return grads;
}

// The number of views an op is about to make, where that many fit into memory.
std::size_t checked_parts(std::int64_t count) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / sizeof(TensorImpl);
  if (count > static_cast<std::int64_t>(kMost))
    fail(ErrorCode::kOutOfMemory, count, " tensors are more than fit into memory.");
  return static_cast<std::size_t>(count);
}

template <class Op>
TensorList split_views(const Tensor& input, SplitWithSizes::Attrs attrs) {
  TensorList views;
  std::int64_t start = 0;
  for (const std::int64_t size : attrs.sizes) {
    const Place place =
        place_of(Slice::Attrs{input.shape(), attrs.dim, start, size, 1}, input.strides());
    views.push_back(input.alias(place.shape, place.strides, input.offset() + place.offset));
    start += size;
  }
  return record_views<Op>(input, std::move(views), attrs);
}

template <class Op>
GradList split_gradient(const Backward<Op>& b) {
  const SplitWithSizes::Attrs& a = b.attrs();
  const TensorList grads = all_gradients(b, a.sizes.size(), [&](std::size_t i) {
    Shape shape = a.input_shape;
    shape[static_cast<std::size_t>(a.dim)] = a.sizes[i];
    return shape;
  });
  return {Cat::call(grads, a.dim)};
}

}  // namespace

Tensor Slice::call(const Tensor& input, std::int64_t dim, std::optional<std::int64_t> start,
                   std::optional<std::int64_t> end, std::int64_t step) {
  check(input.ndim() > 0, ErrorCode::kIndexOutOfRange, doc.name,
        "slice() cannot be applied to a 0-dim tensor.");
  check(step > 0, ErrorCode::kInvalidArgument, doc.name, "slice step must be positive, got ", step,
        '.');
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const std::int64_t size = input.size(d);
  const auto position = [&](std::int64_t value) {
    return std::clamp(value < 0 ? value + size : value, INT64_C(0), size);
  };
  const std::int64_t first = position(start.value_or(0));
  const std::int64_t last = std::max(position(end.value_or(size)), first);
  return make_view<Slice>(input, {input.shape(), d, first, (last - first + step - 1) / step, step});
}

GradList Slice::backward(const Backward<Slice>& b) { return view_gradient(b); }

Tensor Narrow::call(const Tensor& input, std::int64_t dim, std::int64_t start,
                    std::int64_t length) {
  check(input.ndim() > 0, ErrorCode::kIndexOutOfRange, doc.name,
        "narrow() cannot be applied to a 0-dim tensor.");
  check(length >= 0, ErrorCode::kInvalidArgument, doc.name,
        "narrow(): length must be non-negative, got ", length, '.');
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const std::int64_t size = input.size(d);
  check(-size <= start && start <= size, ErrorCode::kIndexOutOfRange, doc.name,
        "start out of range (expected to be in ", "range of [", -size, ", ", size, "], but got ",
        start, ").");
  const std::int64_t first = start < 0 ? start + size : start;
  check(first <= size - length, ErrorCode::kIndexOutOfRange, doc.name, "start (", first,
        ") + length (", length, ") exceeds dimension size (", size, ").");
  return make_view<Slice>(input, {input.shape(), d, first, length, 1});
}

Tensor Select::call(const Tensor& input, std::int64_t dim, std::int64_t index) {
  check(input.ndim() > 0, ErrorCode::kIndexOutOfRange, doc.name,
        "select() cannot be applied to a 0-dim tensor.");
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const std::int64_t size = input.size(d);
  check(-size <= index && index < size, ErrorCode::kIndexOutOfRange, doc.name, "select(): index ",
        index, " out of range for tensor of size ", input.shape(), " at dimension ", d, '.');
  return make_view<Select>(input, {input.shape(), d, index < 0 ? index + size : index});
}

GradList Select::backward(const Backward<Select>& b) { return view_gradient(b); }

TensorList SplitWithSizes::call(const Tensor& input, const Dims& split_sizes, std::int64_t dim) {
  check(input.ndim() > 0, ErrorCode::kShapeMismatch, doc.name,
        "split expects at least a 1-dimensional tensor.");
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  CheckedInt sum = 0;
  for (const std::int64_t size : split_sizes) {
    check(size >= 0, ErrorCode::kInvalidArgument, doc.name,
          "split_with_sizes expects split_sizes have only ",
          "non-negative entries, but got split_sizes=", split_sizes, '.');
    sum += size;
  }
  check(sum.value() == input.size(d), ErrorCode::kShapeMismatch, doc.name,
        "split_with_sizes expects split_sizes to sum ", "exactly to ", input.size(d),
        " (input tensor's size at dimension ", d, "), but got split_sizes=", split_sizes, '.');
  return split_views<SplitWithSizes>(input, {input.shape(), d, split_sizes});
}

GradList SplitWithSizes::backward(const Backward<SplitWithSizes>& b) { return split_gradient(b); }

TensorList Split::call(const Tensor& input, const Dims& split_size, std::int64_t dim) {
  if (split_size.size() != 1) return SplitWithSizes::call(input, split_size, dim);
  check(input.ndim() > 0, ErrorCode::kShapeMismatch, doc.name,
        "split expects at least a 1-dimensional tensor.");
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const std::int64_t length = input.size(d);
  const std::int64_t size = split_size[0];
  check(size >= 0, ErrorCode::kInvalidArgument, doc.name,
        "split expects split_size be non-negative, but got split_size=", size, '.');
  check(size > 0 || length == 0, ErrorCode::kInvalidArgument, doc.name,
        "split_size can only be 0 if dimension size is 0, but got dimension size of ", length, '.');
  if (size > 0) checked_parts(length / size);
  Dims sizes;
  std::int64_t rest = length;
  do {
    sizes.push_back(std::min(size, rest));
    rest -= sizes.back();
  } while (rest > 0);
  return split_views<Split>(input, {input.shape(), d, sizes});
}

GradList Split::backward(const Backward<Split>& b) { return split_gradient(b); }

TensorList Chunk::call(const Tensor& input, std::int64_t chunks, std::int64_t dim) {
  check(input.ndim() > 0, ErrorCode::kShapeMismatch, doc.name,
        "chunk expects at least a 1-dimensional tensor.");
  check(chunks > 0, ErrorCode::kInvalidArgument, doc.name,
        "chunk expects `chunks` to be greater than 0, got: ", chunks, '.');
  const std::int64_t length = input.size(dim);
  // Nothing to divide still gives the number of parts asked for.
  if (length == 0) return SplitWithSizes::call(input, Dims(checked_parts(chunks), 0), dim);
  return Split::call(input, {(length + chunks - 1) / chunks}, dim);
}

TensorList Unbind::call(const Tensor& input, std::int64_t dim) {
  check(input.ndim() > 0, ErrorCode::kIndexOutOfRange, doc.name, "Dimension specified as ", dim,
        " but tensor has no dimensions.");
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  TensorList views;
  views.reserve(checked_parts(input.size(d)));
  for (std::int64_t i = 0; i < input.size(d); ++i) {
    const Place place = place_of(Select::Attrs{input.shape(), d, i}, input.strides());
    views.push_back(input.alias(place.shape, place.strides, input.offset() + place.offset));
  }
  if (views.empty()) return views;
  Attrs attrs{views[0].shape(), d, views.size()};
  return record_views<Unbind>(input, std::move(views), attrs);
}

GradList Unbind::backward(const Backward<Unbind>& b) {
  const Attrs& a = b.attrs();
  return {Stack::call(all_gradients(b, a.count, [&](std::size_t) { return a.shape; }), a.dim)};
}

Tensor Diagonal::call(const Tensor& input, std::int64_t offset, std::int64_t dim1,
                      std::int64_t dim2) {
  const std::int64_t a = wrap_dim(dim1, input.ndim(), doc.name);
  const std::int64_t b = wrap_dim(dim2, input.ndim(), doc.name);
  check(a != b, ErrorCode::kInvalidArgument, doc.name, "diagonal dimensions cannot be identical ",
        dim1, ", ", dim2, '.');
  return make_view<Diagonal>(input, {input.shape(), offset, a, b});
}

GradList Diagonal::backward(const Backward<Diagonal>& b) { return view_gradient(b); }

Tensor Unfold::call(const Tensor& input, std::int64_t dimension, std::int64_t size,
                    std::int64_t step) {
  const std::int64_t d = wrap_dim(dimension, input.ndim(), doc.name);
  const std::int64_t length = input.ndim() == 0 ? 1 : input.size(d);
  check(size >= 0, ErrorCode::kInvalidArgument, doc.name, "size is ", size, " but must be >= 0.");
  check(size <= length, ErrorCode::kInvalidArgument, doc.name,
        "maximum size for tensor at dimension ", d, " is ", length, " but size is ", size, '.');
  check(step > 0, ErrorCode::kInvalidArgument, doc.name, "step is ", step, " but must be > 0.");
  return make_view<Unfold>(input, {input.shape(), d, size, step});
}

GradList Unfold::backward(const Backward<Unfold>& b) { return view_gradient(b); }

}  // namespace eg
