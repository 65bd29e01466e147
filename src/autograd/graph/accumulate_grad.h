#pragma once

#include <string>

#include "autograd/graph/node.h"

namespace eg {

/// The node of a leaf: adds the gradients it receives to the leaf's `.grad`.
///
/// It holds the leaf strongly and the leaf holds it weakly, so it lives as long as some graph uses
/// it. Several threads may run it at once (Hogwild): apply() locks the node.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor variable);

  std::string name() const override { return "AccumulateGrad"; }
  bool takes_sparse_gradients() const override { return true; }
  GradList apply(GradList&& grads) override;
  void clear() override;
  void run_tensor_pre_hooks(GradList& grads) override;
  bool has_hooks() const override;

  /// Adds `grad` to the leaf's gradient without running hooks.
  void accumulate(const Tensor& grad);

  const Tensor& variable() const { return variable_; }
  const Tensor* leaf() const override { return &variable_; }

 private:
  Tensor variable_;
};

}  // namespace eg
