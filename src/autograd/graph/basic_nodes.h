#pragma once

// Nodes without mathematics.

#include <string>

#include "autograd/graph/node.h"

namespace eg {

/// The root of a backward call that starts from several tensors.
class GraphRoot final : public Node {
 public:
  /// That of no other node: those of users' functions end in "Backward".
  static constexpr auto* kName = "GraphRoot";

  GraphRoot(EdgeList roots, GradList grads);
  std::string name() const override { return kName; }
  GradList apply(GradList&& grads) override;

 private:
  GradList grads_;
};

/// Stands for a leaf that no graph reaches, so that it can be asked for and never found.
class Identity final : public Node {
 public:
  std::string name() const override { return "Identity"; }
  GradList apply(GradList&& grads) override { return std::move(grads); }
};

/// Fails when gradients reach it.
class ErrorNode final : public Node {
 public:
  ErrorNode(std::string message, EdgeList edges)
      : Node(std::move(edges)), message_(std::move(message)) {}
  std::string name() const override { return "Error"; }
  GradList apply(GradList&& grads) override;

 private:
  std::string message_;
};

/// Answers every gradient with "none".
class UndefinedGradNode final : public Node {
 public:
  using Node::Node;
  std::string name() const override { return "UndefinedGradBackward"; }
  GradList apply(GradList&& grads) override { return GradList(grads.size()); }
};

/// The value of `t`; differentiating it fails with `message`.
Tensor delayed_error(const Tensor& t, std::string message);

/// The value of `t`; its gradient is undefined, as if it had not been used.
Tensor undefined_grad(const Tensor& t);

/// Makes gradients that reach `output` of the op `name` on `inputs` fail: it has no derivative yet.
void set_not_implemented(const Tensor& output, const TensorList& inputs, std::string_view name);

}  // namespace eg
