#pragma once

// Nodes without mathematics.

#include <string>

#include "autograd/node.h"

namespace eg {

/// The root of a backward call that starts from several tensors.
class GraphRoot final : public Node {
 public:
  GraphRoot(EdgeList roots, GradList grads) : Node(std::move(roots)), grads_(std::move(grads)) {
    for (const Tensor& grad : grads_) {
      if (grad.defined()) add_input_metadata(grad);
    }
  }
  std::string name() const override { return "GraphRoot"; }
  GradList apply(GradList&&) override { return grads_; }

 private:
  GradList grads_;
};

/// Stands for a leaf that no graph reaches, so that it can be asked for and never found.
class Identity final : public Node {
 public:
  std::string name() const override { return "Identity"; }
  GradList apply(GradList&& grads) override { return std::move(grads); }
};

}  // namespace eg
