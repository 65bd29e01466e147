#pragma once

#include <string>

#include "autograd/graph/node.h"
#include "autograd/tensor_math.h"

namespace eg {

/// The history of a base after one of its views was changed in place by `fn`.
///
/// The gradient of the base flows on as it is, except for the part the view shows, which goes
/// through `fn` first. Edges: the base's old history, then fn's edges from the second on.
class CopySlices final : public Node {
 public:
  /// `base` still has its old history; `fn` is the node of the in-place operation on `view`.
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
