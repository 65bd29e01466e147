#include "ops/shape/view.h"

#include <algorithm>
#include <span>

#include "dispatch/factories.h"
#include "ops/reduce/reduction.h"
#include "ops/sparse/sparse_shape.h"

namespace eg {
namespace {

// The node of a reshape that had to copy. Its result is not tracked as a view, because no other
// tensor refers to the copy.
struct UnsafeView {
  static constexpr op::Doc doc{"_unsafe_view", "A row-major copy in another shape."};
  struct Attrs {
    Shape input_shape;
  };
  static GradList backward(const Backward<UnsafeView>& b) {
    return {Reshape::call(b.grad(), b.attrs().input_shape)};
  }
};

// The method of JavaScript that calls ViewDType.
constexpr std::string_view kViewName = View::doc.name;

struct Geometry {
  Shape shape;
  Strides strides;
  std::int64_t offset;
};

// Describes the memory in elements of a smaller dtype: `count` of them in each present one.
void split_elements(Geometry& geometry, std::int64_t count) {
  for (std::int64_t& stride : geometry.strides) stride *= count;
  geometry.strides.back() = 1;
  geometry.shape.back() *= count;
  geometry.offset *= count;
}

// Counts in elements of a dtype whose memory holds `count` of the present ones.
void join_elements(Geometry& geometry, std::int64_t count, DType dtype) {
  const auto is_whole = [count](std::int64_t value) { return value % count == 0; };
  const std::span<std::int64_t> outer(geometry.strides.data(), geometry.strides.size() - 1);
  check(is_whole(geometry.shape.back()) && is_whole(geometry.offset) &&
            std::ranges::all_of(outer, is_whole),
        ErrorCode::kShapeMismatch, kViewName, "an element of ", dtype, " takes ", count,
        ", of which the last size, the offset and the other strides must be multiples; got shape ",
        geometry.shape, ", strides ", geometry.strides, " and offset ", geometry.offset, '.');
  for (std::int64_t& stride : outer) stride /= count;
  geometry.shape.back() /= count;
  geometry.offset /= count;
}

}  // namespace

Tensor View::call(const Tensor& input, const Dims& shape) {
  const Shape target = infer_size(shape, input.numel(), doc.name);
  Strides strides;
  check(view_strides(input.shape(), input.strides(), target, strides), ErrorCode::kShapeMismatch,
        doc.name, "shape ", input.shape(), " with strides ", input.strides(),
        " cannot be viewed as ", target, " without a copy. Use reshape().");
  return record_view<View>(input, target, strides, input.offset(), {input.shape()});
}

GradList View::backward(const Backward<View>& b) {
  return {Reshape::call(b.grad(), b.attrs().input_shape)};
}

Tensor ViewDType::call(const Tensor& input, DType dtype) {
  const DType own = input.dtype();
  if (dtype == own) return detach(input);
  // Memory of bool tensors holds only 0 and 1.
  check(own != DType::kBool && dtype != DType::kBool, ErrorCode::kDtypeMismatch, kViewName,
        "memory of bool is read as bool only, got ", own, " and ", dtype,
        ". Convert with to('uint8').");
  if (item_size(dtype) == item_size(own))
    return input.alias_as(dtype, input.shape(), input.strides(), input.offset());
  Geometry geometry{input.shape(), input.strides(), input.offset()};
  check(
      input.ndim() > 0 && geometry.strides.back() == 1, ErrorCode::kShapeMismatch, kViewName,
      "a dtype of another size requires a last dimension whose elements are neighbors, got shape ",
      input.shape(), " with strides ", input.strides(), ". Call contiguous() first.");
  if (item_size(dtype) < item_size(own))
    split_elements(geometry, static_cast<std::int64_t>(item_size(own) / item_size(dtype)));
  else
    join_elements(geometry, static_cast<std::int64_t>(item_size(dtype) / item_size(own)), dtype);
  return input.alias_as(dtype, geometry.shape, geometry.strides, geometry.offset);
}

Tensor Reshape::call(const Tensor& input, const Dims& shape) {
  const Shape target = infer_size(shape, input.numel(), doc.name);
  Strides strides;
  if (view_strides(input.shape(), input.strides(), target, strides)) {
    return record_view<View>(input, target, strides, input.offset(), {input.shape()});
  }
  const Tensor copy = contiguous_copy(input);
  return record<UnsafeView>(copy.alias(target, contiguous_strides(target), 0), {input},
                            {input.shape()});
}

Tensor ViewAs::call(const Tensor& input, const Tensor& other) {
  return View::call(input, other.shape());
}

Tensor Flatten::call(const Tensor& input, std::int64_t start_dim, std::int64_t end_dim) {
  const std::int64_t start = wrap_dim(start_dim, input.ndim(), doc.name);
  const std::int64_t end = wrap_dim(end_dim, input.ndim(), doc.name);
  check(start <= end, ErrorCode::kInvalidArgument, doc.name,
        "startDim must not come after endDim, got ", start_dim, " and ", end_dim, '.');
  if (input.ndim() == 0) return Reshape::call(input, {1});
  if (start == end) return input;
  const std::int64_t* sizes = input.shape().begin();
  Shape shape(sizes, sizes + start);
  shape.push_back(numel({sizes + start, sizes + end + 1}));
  shape.append(sizes + end + 1, input.shape().end());
  return Reshape::call(input, shape);
}

Tensor Unflatten::call(const Tensor& input, std::int64_t dim, const Dims& sizes) {
  const auto at = static_cast<std::size_t>(wrap_dim(dim, input.ndim(), doc.name));
  check(input.ndim() > 0, ErrorCode::kIndexOutOfRange, doc.name, "a 0-dim tensor has no dimension ",
        dim, '.');
  check(!sizes.empty(), ErrorCode::kInvalidArgument, doc.name, "sizes must not be empty.");
  const Shape inner = infer_size(sizes, input.size(dim), doc.name);
  const std::int64_t* old = input.shape().begin();
  Shape shape(old, old + at);
  shape.append(inner.begin(), inner.end());
  shape.append(old + at + 1, input.shape().end());
  return View::call(input, shape);
}

Tensor Transpose::call(const Tensor& input, std::int64_t dim0, std::int64_t dim1) {
  if (input.is_sparse()) return transpose_sparse(input, dim0, dim1);
  const std::int64_t a = wrap_dim(dim0, input.ndim(), doc.name);
  const std::int64_t b = wrap_dim(dim1, input.ndim(), doc.name);
  Shape shape = input.shape();
  Strides strides = input.strides();
  if (a != b) {
    std::swap(shape[static_cast<std::size_t>(a)], shape[static_cast<std::size_t>(b)]);
    std::swap(strides[static_cast<std::size_t>(a)], strides[static_cast<std::size_t>(b)]);
  }
  return record_view<Transpose>(input, shape, strides, input.offset(), {a, b});
}

GradList Transpose::backward(const Backward<Transpose>& b) {
  return {Transpose::call(b.grad(), b.attrs().dim0, b.attrs().dim1)};
}

Tensor Swapaxes::call(const Tensor& input, std::int64_t axis0, std::int64_t axis1) {
  return Transpose::call(input, axis0, axis1);
}

Tensor MatrixTranspose::call(const Tensor& input) {
  check(input.ndim() <= 2, ErrorCode::kShapeMismatch, doc.name,
        "expected at most 2 dimensions, got ", input.ndim(), '.');
  if (input.is_sparse()) return input.ndim() == 2 ? transpose_sparse(input, 0, 1) : input;
  Shape shape = input.shape();
  Strides strides = input.strides();
  std::reverse(shape.begin(), shape.end());
  std::reverse(strides.begin(), strides.end());
  return record_view<MatrixTranspose>(input, shape, strides, input.offset(), {});
}

GradList MatrixTranspose::backward(const Backward<MatrixTranspose>& b) { return {call(b.grad())}; }

Tensor Permute::call(const Tensor& input, const Dims& dims) {
  check(dims.size() == input.shape().size(), ErrorCode::kShapeMismatch, doc.name,
        "dims must name all ", input.ndim(), " dimensions, got ", dims.size(), '.');
  Dims order;
  Shape shape;
  Strides strides;
  for (const std::int64_t dim : dims) {
    const std::int64_t source = wrap_dim(dim, input.ndim(), doc.name);
    check(std::find(order.begin(), order.end(), source) == order.end(), ErrorCode::kInvalidArgument,
          doc.name, "dims must not contain duplicates, got ", dims, '.');
    order.push_back(source);
    shape.push_back(input.shape()[static_cast<std::size_t>(source)]);
    strides.push_back(input.strides()[static_cast<std::size_t>(source)]);
  }
  if (input.is_sparse()) return permute_sparse(input, order);
  return record_view<Permute>(input, shape, strides, input.offset(), {order});
}

GradList Permute::backward(const Backward<Permute>& b) {
  const Dims& dims = b.attrs().dims;
  Dims inverse(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i)
    inverse[static_cast<std::size_t>(dims[i])] = static_cast<std::int64_t>(i);
  return {Permute::call(b.grad(), inverse)};
}

Tensor Movedim::call(const Tensor& input, const Dims& source, const Dims& destination) {
  check(source.size() == destination.size(), ErrorCode::kInvalidArgument, doc.name,
        "source and destination must have the same length, got ", source, " and ", destination,
        '.');
  if (input.ndim() == 0) return input;
  const Dims from = wrap_dims(source, input.ndim(), doc.name);
  const Dims to = wrap_dims(destination, input.ndim(), doc.name);
  // The dimensions that do not move fill the free positions in their old order.
  Dims order(input.shape().size(), -1);
  for (std::size_t i = 0; i < from.size(); ++i) order[static_cast<std::size_t>(to[i])] = from[i];
  std::int64_t next = 0;
  for (std::int64_t& dim : order) {
    if (dim != -1) continue;
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    dim = next++;
  }
  return Permute::call(input, order);
}

Tensor Squeeze::call(const Tensor& input, const std::optional<Dims>& dim) {
  Dims dims;
  if (dim.has_value()) dims = wrap_dims(*dim, input.ndim(), doc.name);
  Shape shape;
  Strides strides;
  for (std::size_t d = 0; d < input.shape().size(); ++d) {
    const bool chosen = !dim.has_value() || std::find(dims.begin(), dims.end(),
                                                      static_cast<std::int64_t>(d)) != dims.end();
    if (chosen && input.shape()[d] == 1) continue;
    shape.push_back(input.shape()[d]);
    strides.push_back(input.strides()[d]);
  }
  return record_view<Squeeze>(input, shape, strides, input.offset(), {input.shape()});
}

GradList Squeeze::backward(const Backward<Squeeze>& b) {
  // Dimensions of size one can be put back into any layout without a copy.
  return {View::call(b.grad(), b.attrs().input_shape)};
}

Tensor Unsqueeze::call(const Tensor& input, std::int64_t dim) {
  if (input.is_sparse()) return unsqueeze_sparse(input, dim);
  const std::int64_t wrapped = wrap_dim(dim, input.ndim() + 1, doc.name);
  const auto at = static_cast<std::size_t>(wrapped);
  Shape shape = input.shape();
  Strides strides = input.strides();
  const std::int64_t stride = at < shape.size() ? shape[at] * strides[at] : 1;
  shape.insert(at, 1);
  strides.insert(at, stride);
  return record_view<Unsqueeze>(input, shape, strides, input.offset(), {wrapped});
}

GradList Unsqueeze::backward(const Backward<Unsqueeze>& b) {
  return {Squeeze::call(b.grad(), Dims{b.attrs().dim})};
}

Tensor Expand::call(const Tensor& input, const Dims& size) {
  check(size.size() >= input.shape().size(), ErrorCode::kShapeMismatch, doc.name,
        "cannot expand shape ", input.shape(), " to ", size, ", which has fewer dimensions.");
  const std::size_t added = size.size() - input.shape().size();
  Shape shape = size;
  for (std::size_t d = 0; d < size.size(); ++d) {
    if (d < added) {
      check(size[d] >= 0, ErrorCode::kInvalidArgument, doc.name, "the size of the new dimension ",
            d, " must not be negative, got ", size[d], '.');
      continue;
    }
    const std::int64_t old = input.shape()[d - added];
    if (size[d] == -1) shape[d] = old;
    check(shape[d] >= 0 && (old == 1 || shape[d] == old), ErrorCode::kShapeMismatch, doc.name,
          "cannot expand shape ", input.shape(), " to ", size, ": dimension ", d,
          " would change from ", old, " to ", size[d], '.');
  }
  check_shape(shape);
  if (input.is_sparse()) return expand_sparse(input, shape);
  Strides strides = broadcast_strides(input.shape(), input.strides(), shape);
  // As in PyTorch, a new dimension of size 1 has the stride that a larger one would need.
  for (std::size_t d = input.shape().empty() ? 0 : added; d-- > 0;) {
    if (shape[d] == 1) strides[d] = shape[d + 1] * strides[d + 1];
  }
  return record_view<Expand>(input, shape, strides, input.offset(), {input.shape()});
}

GradList Expand::backward(const Backward<Expand>& b) {
  return {sum_to_shape(b.grad(), b.attrs().input_shape)};
}

Tensor ExpandAs::call(const Tensor& input, const Tensor& other) {
  return Expand::call(input, other.shape());
}

Tensor BroadcastTo::call(const Tensor& input, const Dims& shape) {
  return Expand::call(input, shape);
}

Tensor Detach::call(const Tensor& input) { return detach(input); }

}  // namespace eg
