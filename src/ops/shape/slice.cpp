#include "ops/shape/slice.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "dispatch/factories.h"
#include "ops/shape/join.h"
#include "ops/shape/stride.h"

namespace eg {
namespace {

// The geometry of a view of a tensor; the offset is relative to the tensor's first element.
struct PartGeometry {
  Shape shape;
  Strides strides;
  std::int64_t offset = 0;
};

// The stride of `length` elements that are `step` apart. For a single element the step is not used
// and may be too large for a stride.
std::int64_t step_of(std::int64_t length, std::int64_t stride, std::int64_t step) {
  return length > 1 ? stride * step : stride;
}

// One function per kind of view computes its geometry: for the view itself from the strides of the
// input, and for its gradient from row-major strides.
PartGeometry geometry_of(const Slice::Attrs& a, const Strides& strides) {
  const auto dim = static_cast<std::size_t>(a.dim);
  PartGeometry part{a.input_shape, strides, a.start * strides[dim]};
  part.shape[dim] = a.length;
  part.strides[dim] = step_of(a.length, strides[dim], a.step);
  return part;
}

PartGeometry geometry_of(const Select::Attrs& a, const Strides& strides) {
  const auto dim = static_cast<std::size_t>(a.dim);
  PartGeometry part{a.input_shape, strides, a.index * strides[dim]};
  part.shape.erase(dim);
  part.strides.erase(dim);
  return part;
}

PartGeometry geometry_of(const Diagonal::Attrs& a, const Strides& strides) {
  const auto dim1 = static_cast<std::size_t>(a.dim1);
  const auto dim2 = static_cast<std::size_t>(a.dim2);
  const std::int64_t down = std::max<std::int64_t>(-a.offset, 0);
  const std::int64_t right = std::max<std::int64_t>(a.offset, 0);
  const std::int64_t length = std::min(a.input_shape[dim1] - down, a.input_shape[dim2] - right);
  PartGeometry part{a.input_shape, strides,
                    length > 0 ? down * strides[dim1] + right * strides[dim2] : 0};
  for (const std::size_t dim : {std::max(dim1, dim2), std::min(dim1, dim2)}) {
    part.shape.erase(dim);
    part.strides.erase(dim);
  }
  part.shape.push_back(std::max<std::int64_t>(length, 0));
  part.strides.push_back(strides[dim1] + strides[dim2]);
  return part;
}

PartGeometry geometry_of(const Unfold::Attrs& a, const Strides& strides) {
  // A 0-dim tensor is one window.
  if (a.input_shape.empty()) return {{a.size}, {1}, 0};
  const auto dim = static_cast<std::size_t>(a.dim);
  PartGeometry part{a.input_shape, strides, 0};
  part.shape[dim] = (a.input_shape[dim] - a.size) / a.step + 1;
  part.strides[dim] = step_of(part.shape[dim], strides[dim], a.step);
  part.shape.push_back(a.size);
  part.strides.push_back(strides[dim]);
  return part;
}

template <class Op>
Tensor make_view(const Tensor& input, typename Op::Attrs attrs) {
  const PartGeometry part = geometry_of(attrs, input.strides());
  return record_view<Op>(input, part.shape, part.strides, input.offset() + part.offset, attrs);
}

template <class Op>
GradList view_gradient(const Backward<Op>& b) {
  const Strides strides = contiguous_strides(b.attrs().input_shape);
  PartGeometry part = geometry_of(b.attrs(), strides);
  return {as_strided_gradient(b.grad(), {b.attrs().input_shape, strides, std::move(part.shape),
                                         std::move(part.strides), part.offset})};
}

// The gradients of all outputs of a node, with zeros for undefined ones.
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

// The number of views an op is about to make. Throws OutOfMemory if they cannot fit into memory.
std::size_t checked_parts(std::int64_t count) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / sizeof(TensorImpl);
  if (count > static_cast<std::int64_t>(kMost))
    fail(ErrorCode::kOutOfMemory, count, " tensors do not fit into memory.");
  return static_cast<std::size_t>(count);
}

template <class Op>
TensorList split_views(const Tensor& input, SplitWithSizes::Attrs attrs) {
  TensorList views;
  std::int64_t start = 0;
  for (const std::int64_t size : attrs.sizes) {
    const PartGeometry part =
        geometry_of(Slice::Attrs{input.shape(), attrs.dim, start, size, 1}, input.strides());
    views.push_back(input.alias(part.shape, part.strides, input.offset() + part.offset));
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
        "expected at least 1 dimension, got a 0-dim tensor.");
  check(step > 0, ErrorCode::kInvalidArgument, doc.name, "step must be positive, got ", step, '.');
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
        "expected at least 1 dimension, got a 0-dim tensor.");
  check(length >= 0, ErrorCode::kInvalidArgument, doc.name, "length must not be negative, got ",
        length, '.');
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const std::int64_t size = input.size(d);
  check(-size <= start && start <= size, ErrorCode::kIndexOutOfRange, doc.name,
        "start must be in [", -size, ", ", size, "], got ", start, '.');
  const std::int64_t first = start < 0 ? start + size : start;
  check(first <= size - length, ErrorCode::kIndexOutOfRange, doc.name, "start ", first,
        " plus length ", length, " exceeds the size of dimension ", d, ", ", size, '.');
  return make_view<Slice>(input, {input.shape(), d, first, length, 1});
}

Tensor Select::call(const Tensor& input, std::int64_t dim, std::int64_t index) {
  check(input.ndim() > 0, ErrorCode::kIndexOutOfRange, doc.name,
        "expected at least 1 dimension, got a 0-dim tensor.");
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const std::int64_t size = input.size(d);
  check(-size <= index && index < size, ErrorCode::kIndexOutOfRange, doc.name, "index ", index,
        " is out of range for dimension ", d, " of shape ", input.shape(), '.');
  return make_view<Select>(input, {input.shape(), d, index < 0 ? index + size : index});
}

GradList Select::backward(const Backward<Select>& b) { return view_gradient(b); }

TensorList SplitWithSizes::call(const Tensor& input, const Dims& split_sizes, std::int64_t dim) {
  check(input.ndim() > 0, ErrorCode::kShapeMismatch, doc.name,
        "expected at least 1 dimension, got a 0-dim tensor.");
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  CheckedInt sum = 0;
  for (const std::int64_t size : split_sizes) {
    check(size >= 0, ErrorCode::kInvalidArgument, doc.name, "splitSizes must not be negative, got ",
          split_sizes, '.');
    sum += size;
  }
  check(sum.value() == input.size(d), ErrorCode::kShapeMismatch, doc.name,
        "splitSizes must add up to ", input.size(d), ", the size of dimension ", d, ", got ",
        split_sizes, '.');
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
  check(size >= 0, ErrorCode::kInvalidArgument, doc.name, "splitSize must not be negative, got ",
        size, '.');
  check(size > 0 || length == 0, ErrorCode::kInvalidArgument, doc.name,
        "splitSize must be positive for a dimension of size ", length, ", got 0.");
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
        "expected at least 1 dimension, got a 0-dim tensor.");
  check(chunks > 0, ErrorCode::kInvalidArgument, doc.name, "chunks must be positive, got ", chunks,
        '.');
  const std::int64_t length = input.size(dim);
  // An empty dimension is also divided into the requested number of parts.
  if (length == 0) return SplitWithSizes::call(input, Dims(checked_parts(chunks), 0), dim);
  return Split::call(input, {(length + chunks - 1) / chunks}, dim);
}

TensorList Unbind::call(const Tensor& input, std::int64_t dim) {
  check(input.ndim() > 0, ErrorCode::kIndexOutOfRange, doc.name, "a 0-dim tensor has no dimension ",
        dim, '.');
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  TensorList views;
  views.reserve(checked_parts(input.size(d)));
  for (std::int64_t i = 0; i < input.size(d); ++i) {
    const PartGeometry part = geometry_of(Select::Attrs{input.shape(), d, i}, input.strides());
    views.push_back(input.alias(part.shape, part.strides, input.offset() + part.offset));
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
  check(a != b, ErrorCode::kInvalidArgument, doc.name, "dim1 and dim2 must differ, got ", dim1,
        " and ", dim2, '.');
  return make_view<Diagonal>(input, {input.shape(), offset, a, b});
}

GradList Diagonal::backward(const Backward<Diagonal>& b) { return view_gradient(b); }

Tensor Unfold::call(const Tensor& input, std::int64_t dimension, std::int64_t size,
                    std::int64_t step) {
  const std::int64_t d = wrap_dim(dimension, input.ndim(), doc.name);
  const std::int64_t length = input.ndim() == 0 ? 1 : input.size(d);
  check(size >= 0, ErrorCode::kInvalidArgument, doc.name, "size must not be negative, got ", size,
        '.');
  check(size <= length, ErrorCode::kInvalidArgument, doc.name, "size must be at most ", length,
        ", the size of dimension ", d, ", got ", size, '.');
  check(step > 0, ErrorCode::kInvalidArgument, doc.name, "step must be positive, got ", step, '.');
  return make_view<Unfold>(input, {input.shape(), d, size, step});
}

GradList Unfold::backward(const Backward<Unfold>& b) { return view_gradient(b); }

}  // namespace eg
