#pragma once

#include <string>

#include "autograd/graph/node.h"

namespace eg {

/// The sink of a leaf: adds what arrives to the leaf's `.grad`.
///
/// It holds the leaf strongly, the leaf holds it weakly, so it lives as long as some graph uses it.
/// Several threads may run it at once (Hogwild): apply() locks the node.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor variable);

  std::string name() const override { return "AccumulateGrad"; }
  GradList apply(GradList&& grads) override;
  void clear() override;
  void run_tensor_pre_hooks(GradList& grads) override;
  bool has_hooks() const override;

  /// Adds to the gradient of the leaf, without hooks.
  void accumulate(const Tensor& grad);

  const Tensor& variable() const { return variable_; }
  const Tensor* leaf() const override { return &variable_; }

 private:
  Tensor variable_;
};

}  // namespace eg
