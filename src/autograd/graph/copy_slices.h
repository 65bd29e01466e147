#pragma once

#include <string>

#include "autograd/graph/node.h"
#include "autograd/tensor_math.h"

namespace eg {

/// The history of a base tensor after `fn` changed one of its views in place.
///
/// The gradient of the base passes through unchanged, except for the elements of the view, which go
/// through `fn` first. Edges: the base's previous history, then fn's edges from the second on.
class CopySlices final : public Node {
 public:
  /// `base` must still have its previous history; `fn` is the node of the in-place operation on
  /// `view`.
  CopySlices(const Tensor& base, const Tensor& view, IntrusivePtr<Node> fn);

  std::string name() const override { return "CopySlices"; }
  GradList apply(GradList&& grads) override;
  void release_variables() override;

 private:
  Shape base_shape_;
  Strides base_strides_;
  math::ViewGeometry view_;
  IntrusivePtr<Node> fn_;
};

}  // namespace eg
