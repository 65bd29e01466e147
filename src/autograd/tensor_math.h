#pragma once

// The few ops that the layers below ops/ call themselves: the engine, to sum gradients, fit them to
// a slot and route them through views; dispatch, to fit tangents and results to their tensors.
// Declared here because those layers must not depend on ops/; defined in ops/tensor_math.cpp. All
// of them are recorded like any op when grad mode is on.

#include "autograd/graph/node.h"
#include "tensor/tensor.h"

namespace eg::math {

Tensor add(const Tensor& a, const Tensor& b);
/// a += b in place; increments the version.
void add_in_place(const Tensor& a, const Tensor& b);
/// Returns a copy with its own storage; keeps the strides if the source is dense.
Tensor clone(const Tensor& t);
/// Returns a copy of `t` with exactly these strides.
Tensor clone_with_strides(const Tensor& t, const Strides& strides);
/// All elements of a sparse tensor.
Tensor to_dense(const Tensor& t);
/// Returns true when an element is NaN.
bool has_nan(const Tensor& t);
/// Ones, or zeros, with the shape, dtype and device of a slot.
Tensor ones(const InputMetadata& slot);
Tensor zeros(const InputMetadata& slot);
Tensor zeros_like(const Tensor& t);
/// Element `index` along the first dimension; stack() is the inverse.
Tensor select(const Tensor& t, std::int64_t index);
Tensor stack(const TensorList& tensors);
/// Sums broadcast dimensions so that the result has `shape`.
Tensor sum_to(const Tensor& t, const Shape& shape);
Tensor cast(const Tensor& t, DType dtype);
/// A view of `t` that repeats it along dimensions of size one, and along new ones, up to `shape`.
Tensor expand(const Tensor& t, const Shape& shape);
/// The complex conjugate, and the real part; a real tensor is returned unchanged.
Tensor conj(const Tensor& t);
Tensor real(const Tensor& t);
Tensor to_device(const Tensor& t, Device device);
/// Overwrites `destination` with `source`, broadcast and converted.
void copy_values(const Tensor& destination, const Tensor& source);
/// A view of the whole of `t`.
Tensor view(const Tensor& t);

/// The geometry of a view relative to its base, and the dtype of the view, which may be that of a
/// complex base's parts, or the complex dtype of a real base.
struct ViewGeometry {
  ViewGeometry(const Tensor& base, const Tensor& view);

  DType dtype;
  Shape shape;
  Strides strides;
  /// From the base's first element, in elements of the real dtype of both.
  std::int64_t offset;
};
/// The same part of `t`, which has the geometry of the base; recorded as a view.
Tensor view_part(const Tensor& t, const ViewGeometry& view);
/// The node of view_part(base, view). The caller must set its one edge.
IntrusivePtr<Node> view_part_node(const Tensor& base, const Tensor& view);

}  // namespace eg::math
