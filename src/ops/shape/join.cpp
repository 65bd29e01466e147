#include "ops/shape/join.h"

#include <algorithm>

#include "dispatch/factories.h"
#include "dispatch/promotion.h"
#include "ops/create/copy.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse_shape.h"

namespace eg {
namespace {

void check_list(const TensorList& tensors, std::string_view op) {
  check(!tensors.empty(), ErrorCode::kInvalidArgument, op,
        "expected at least one tensor, got an empty array.");
  for (const Tensor& t : tensors) check_same_device(op, tensors[0].device(), t.device());
}

// As in PyTorch, cat ignores tensors of shape [0], whatever the shapes of the others.
bool is_skipped(const Tensor& t) { return t.ndim() == 1 && t.numel() == 0; }

// `length` slices of `t` along `dim` from `start`, not recorded.
Tensor part(const Tensor& t, std::size_t dim, std::int64_t start, std::int64_t length) {
  Shape shape = t.shape();
  shape[dim] = length;
  return t.alias(shape, t.strides(), t.offset() + start * t.strides()[dim]);
}

// If one of the tensors is complex, the real ones are converted first, because ToDType handles
// gradients between real and complex numbers.
TensorList in_one_domain(TensorList tensors) {
  const DType dtype = promote(tensors);
  if (!is_complex(dtype)) return tensors;
  for (Tensor& t : tensors) t = ToDType::call(t, dtype);
  return tensors;
}

}  // namespace

Tensor Cat::call(const TensorList& given, std::int64_t dim) {
  check_list(given, doc.name);
  if (std::ranges::any_of(given, &Tensor::is_sparse)) return cat_sparse(given, dim);
  const TensorList tensors = in_one_domain(given);
  std::size_t first = 0;
  while (first + 1 < tensors.size() && is_skipped(tensors[first])) ++first;
  const Tensor& model = tensors[first];
  // If all are skipped, the dimension means nothing.
  const std::int64_t along = is_skipped(model) ? 0 : wrap_dim(dim, model.ndim(), doc.name);
  const auto d = static_cast<std::size_t>(along);
  Attrs attrs{along, {}};
  Shape shape = model.shape();
  CheckedInt total = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Shape& other = tensors[i].shape();
    check(!other.empty(), ErrorCode::kShapeMismatch, doc.name, "tensor ", i,
          " has no dimension to join along. Use stack() for 0-dim tensors.");
    if (i != first && is_skipped(tensors[i])) {
      attrs.sizes.push_back(-1);
      continue;
    }
    check(other.size() == shape.size(), ErrorCode::kShapeMismatch, doc.name,
          "the tensors must agree in the number of dimensions, got ", shape.size(), " and ",
          other.size(), '.');
    for (std::size_t k = 0; k < shape.size(); ++k) {
      check(k == d || other[k] == shape[k], ErrorCode::kShapeMismatch, doc.name,
            "the sizes may differ only in dimension ", d, ", but tensor ", i, " has size ",
            other[k], " in dimension ", k, ", expected ", shape[k], '.');
    }
    attrs.sizes.push_back(other[d]);
    total += other[d];
  }
  shape[d] = total.value();
  const Tensor result = Tensor::empty(shape, promote(tensors), model.device());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (attrs.sizes[i] <= 0) continue;
    copy_data(part(result, d, start, attrs.sizes[i]), tensors[i]);
    start += attrs.sizes[i];
  }
  record<Cat>(std::span<const Tensor>(&result, 1), tensors, attrs, {});
  return result;
}

GradList Cat::backward(const Backward<Cat>& b) {
  GradList grads(b.input_count());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < grads.size(); ++i) {
    const std::int64_t size = b.attrs().sizes[i];
    if (b.needs(i)) {
      grads[i] = size < 0 ? full({0}, 0, b.grad().dtype(), b.grad().device())
                          : Narrow::call(b.grad(), b.attrs().dim, start, size);
    }
    start += std::max<std::int64_t>(size, 0);
  }
  return grads;
}

Tensor Stack::call(const TensorList& given, std::int64_t dim) {
  check_list(given, doc.name);
  const TensorList tensors = in_one_domain(given);
  const Shape& entry = tensors[0].shape();
  const std::int64_t wrapped = wrap_dim(dim, tensors[0].ndim() + 1, doc.name);
  const auto d = static_cast<std::size_t>(wrapped);
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    check(tensors[i].shape() == entry, ErrorCode::kShapeMismatch, doc.name,
          "the tensors must have the same shape, got ", entry, " for tensor 0 and ",
          tensors[i].shape(), " for tensor ", i, '.');
  }
  Shape shape = entry;
  shape.insert(d, static_cast<std::int64_t>(tensors.size()));
  const Tensor result = Tensor::empty(shape, promote(tensors), tensors[0].device());
  Strides strides = result.strides();
  strides.erase(d);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    copy_data(result.alias(entry, strides, static_cast<std::int64_t>(i) * result.strides()[d]),
              tensors[i]);
  }
  record<Stack>(std::span<const Tensor>(&result, 1), tensors, {wrapped}, {});
  return result;
}

GradList Stack::backward(const Backward<Stack>& b) {
  GradList grads(b.input_count());
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (b.needs(i)) grads[i] = Select::call(b.grad(), b.attrs().dim, static_cast<std::int64_t>(i));
  }
  return grads;
}

Tensor Hstack::call(const TensorList& tensors) {
  check_list(tensors, doc.name);
  const bool are_vectors = tensors[0].ndim() <= 1;
  TensorList parts;
  for (const Tensor& t : tensors) parts.push_back(t.ndim() == 0 ? Unsqueeze::call(t, 0) : t);
  return Cat::call(parts, are_vectors ? 0 : 1);
}

Tensor Vstack::call(const TensorList& tensors) {
  check_list(tensors, doc.name);
  TensorList parts;
  for (const Tensor& t : tensors)
    parts.push_back(t.ndim() <= 1 ? Reshape::call(t, {1, t.numel()}) : t);
  return Cat::call(parts, 0);
}

TensorList Meshgrid::call(const TensorList& tensors, GridIndexing indexing) {
  check_list(tensors, doc.name);
  const bool are_swapped = indexing == GridIndexing::kXY && tensors.size() > 1;
  // "xy" is the grid of the first two vectors in exchanged order, with its tensors exchanged too.
  const auto source = [&](std::size_t i) { return are_swapped && i < 2 ? 1 - i : i; };
  Shape shape;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[source(i)];
    check(t.ndim() <= 1, ErrorCode::kShapeMismatch, doc.name,
          "expected vectors or 0-dim tensors, got shape ", t.shape(), '.');
    check(t.dtype() == tensors[0].dtype(), ErrorCode::kDtypeMismatch, doc.name,
          "the tensors must have the same dtype, got ", tensors[0].dtype(), " and ", t.dtype(),
          '.');
    shape.push_back(t.numel());
  }
  TensorList grids(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Shape along(shape.size(), 1);
    along[i] = shape[i];
    grids[source(i)] = Expand::call(Reshape::call(tensors[source(i)], along), shape);
  }
  return grids;
}

Tensor Repeat::call(const Tensor& input, const Dims& repeats) {
  check(repeats.size() >= input.shape().size(), ErrorCode::kShapeMismatch, doc.name,
        "expected at least one repeat for each dimension, got ", repeats, " for shape ",
        input.shape(), '.');
  const std::size_t added = repeats.size() - input.shape().size();
  // Each dimension becomes two, the copies and the original, in the result and in a view of the
  // input with stride 0 along the copies. Dimensions of size one are left out, because with them
  // there could be more dimensions than a tensor may have.
  Shape shape;
  Shape blocks;
  Strides strides;
  const auto add_block = [&](std::int64_t size, std::int64_t stride) {
    if (size == 1) return;
    blocks.push_back(size);
    strides.push_back(stride);
  };
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    check(repeats[d] >= 0, ErrorCode::kInvalidArgument, doc.name,
          "repeats must not be negative, got ", repeats, '.');
    const std::int64_t size = d < added ? 1 : input.shape()[d - added];
    shape.push_back((CheckedInt(repeats[d]) * size).value());
    add_block(repeats[d], 0);
    add_block(size, d < added ? 0 : input.strides()[d - added]);
  }
  const Tensor result = Tensor::empty(shape, input.dtype(), input.device());
  copy_data(result.alias(blocks, contiguous_strides(blocks), 0),
            input.alias(blocks, strides, input.offset()));
  return record<Repeat>(result, {input}, {input.shape(), repeats});
}

GradList Repeat::backward(const Backward<Repeat>& b) {
  const auto& [input_shape, repeats] = b.attrs();
  const std::size_t added = repeats.size() - input_shape.size();
  Shape blocks;
  Dims copies;
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] != 1) {
      copies.push_back(static_cast<std::int64_t>(blocks.size()));
      blocks.push_back(repeats[d]);
    }
    if (d >= added) blocks.push_back(input_shape[d - added]);
  }
  // An empty list would mean all dimensions.
  const Tensor whole = Reshape::call(b.grad(), blocks);
  if (copies.empty()) return {whole};
  const Tensor computed = ToDType::call(whole, computed_dtype(whole.dtype()));
  return {ToDType::call(Sum::call(computed, copies), whole.dtype())};
}

Tensor Tile::call(const Tensor& input, const Dims& dims) {
  Dims repeats = dims;
  while (repeats.size() < input.shape().size()) repeats.insert(0, 1);
  return Repeat::call(input, repeats);
}

}  // namespace eg
