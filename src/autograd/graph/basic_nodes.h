#pragma once

// Nodes that compute nothing.

#include <string>

#include "autograd/graph/node.h"

namespace eg {

/// The root of a backward call with several root tensors.
class GraphRoot final : public Node {
 public:
  /// Unique to this class: the names of users' functions end in "Backward".
  static constexpr auto* kName = "GraphRoot";

  GraphRoot(EdgeList roots, GradList grads);
  std::string name() const override { return kName; }
  GradList apply(GradList&& grads) override;

 private:
  GradList grads_;
};

/// Stands for a leaf that no graph reaches: it can be requested, but receives no gradient.
class Identity final : public Node {
 public:
  std::string name() const override { return "Identity"; }
  GradList apply(GradList&& grads) override { return std::move(grads); }
};

/// Throws when a gradient reaches it.
class ErrorNode final : public Node {
 public:
  ErrorNode(std::string message, EdgeList edges)
      : Node(std::move(edges)), message_(std::move(message)) {}
  std::string name() const override { return "Error"; }
  GradList apply(GradList&& grads) override;

 private:
  std::string message_;
};

/// Returns undefined for every gradient.
class UndefinedGradNode final : public Node {
 public:
  using Node::Node;
  std::string name() const override { return "UndefinedGradBackward"; }
  GradList apply(GradList&& grads) override { return GradList(grads.size()); }
};

/// Returns the value of `t`; differentiating the result throws `message`.
Tensor delayed_error(const Tensor& t, std::string message);

/// Returns the value of `t` with an undefined gradient, as if `t` had not been used.
Tensor undefined_grad(const Tensor& t);

/// Makes backward throw when it reaches `output` of the op `name` on `inputs`, which has no
/// derivative yet.
void set_not_implemented(const Tensor& output, const TensorList& inputs, std::string_view name);

}  // namespace eg
