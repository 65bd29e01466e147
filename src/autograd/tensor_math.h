#pragma once

// The few ops that the layers below the ops call themselves: the engine to sum gradients, to fit
// them to a slot and to route them through views, dispatch to fit tangents and results to the
// tensors they belong to. Declared here because neither may depend on the layer of ops above it;
// defined there (ops/tensor_math.cpp). All of them record like any op when grad mode is on.

#include "autograd/graph/node.h"
#include "tensor/tensor.h"

namespace eg::math {

Tensor add(const Tensor& a, const Tensor& b);
/// a += b on the values, and one version up.
void add_in_place(const Tensor& a, const Tensor& b);
/// A copy with storage of its own; strides kept when the source is dense.
Tensor clone(const Tensor& t);
/// A copy with exactly these strides; `t` is read in its own.
Tensor clone_with_strides(const Tensor& t, const Strides& strides);
/// True when an element is not a number.
bool has_nan(const Tensor& t);
/// Ones, or zeros, that fit a slot.
Tensor ones(const InputMetadata& slot);
Tensor zeros(const InputMetadata& slot);
Tensor zeros_like(const Tensor& t);
/// Element `index` along the first dimension; stack puts such elements together again.
Tensor select(const Tensor& t, std::int64_t index);
Tensor stack(const TensorList& tensors);
/// Sums broadcast dimensions so that the result has `shape`.
Tensor sum_to(const Tensor& t, const Shape& shape);
Tensor cast(const Tensor& t, DType dtype);
/// A view of `t` that repeats it along the dimensions of size one, and new ones, up to `shape`.
Tensor expand(const Tensor& t, const Shape& shape);
/// The complex conjugate, and the real parts; of a real tensor, itself.
Tensor conj(const Tensor& t);
Tensor real(const Tensor& t);
Tensor to_device(const Tensor& t, Device device);
/// Writes `source`, broadcast and converted, over `destination`, in place.
void copy_values(const Tensor& destination, const Tensor& source);
/// A view of all of `t`.
Tensor view(const Tensor& t);

/// What a view shows of its base: a geometry, and the dtype of the view, which may be that of a
/// complex base's parts, or the other way round.
struct ViewGeometry {
  ViewGeometry(const Tensor& base, const Tensor& view);

  DType dtype;
  Shape shape;
  Strides strides;
  /// From the base's first element, in elements of the two dtypes' real one.
  std::int64_t offset;
};
/// The same part of `t`, which has the geometry of the base: a recorded view.
Tensor view_part(const Tensor& t, const ViewGeometry& view);
/// The node of view_part(base, view); its one edge is still to be set.
IntrusivePtr<Node> view_part_node(const Tensor& base, const Tensor& view);

}  // namespace eg::math
