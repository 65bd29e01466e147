#pragma once

// Nodes, hooks and small graphs made from functions, for tests of order, errors and threads.

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "autograd/graph/node.h"
#include "autograd/graph/variable.h"
#include "autograd/hooks/hooks.h"
#include "support/ops.h"

namespace eg::testing {

inline Tensor sub(const Tensor& a, const Operand& b) { return call<op::Sub>(a, b); }

/// A node that runs a function.
class FunctionalNode final : public Node {
 public:
  using Function = std::function<GradList(GradList&&)>;
  FunctionalNode(EdgeList edges, Function function)
      : Node(std::move(edges)), function_(std::move(function)) {}
  std::string name() const override { return "FunctionalBackward"; }
  GradList apply(GradList&& grads) override { return function_(std::move(grads)); }

 private:
  Function function_;
};

/// The identity of `x`, whose backward runs `function`.
inline Tensor through(const Tensor& x, FunctionalNode::Function function) {
  Tensor y = detach(x);
  set_history(y, make_intrusive<FunctionalNode>(EdgeList{gradient_edge(x)}, std::move(function)));
  return y;
}

/// A hook of any kind, made from a function: `FunctionalHook<TensorPreHook>`.
template <class Base>
class FunctionalHook;

template <>
class FunctionalHook<TensorPreHook> final : public TensorPreHook {
 public:
  using Function = std::function<Tensor(const Tensor&)>;
  explicit FunctionalHook(Function function) : function_(std::move(function)) {}
  Tensor operator()(const Tensor& grad) override { return function_(grad); }

 private:
  Function function_;
};

template <>
class FunctionalHook<NodePreHook> final : public NodePreHook {
 public:
  using Function = std::function<GradList(GradList)>;
  explicit FunctionalHook(Function function) : function_(std::move(function)) {}
  GradList operator()(GradList grads) override { return function_(std::move(grads)); }

 private:
  Function function_;
};

template <>
class FunctionalHook<NodePostHook> final : public NodePostHook {
 public:
  using Function = std::function<GradList(GradList, const GradList&)>;
  explicit FunctionalHook(Function function) : function_(std::move(function)) {}
  GradList operator()(GradList grad_inputs, const GradList& grad_outputs) override {
    return function_(std::move(grad_inputs), grad_outputs);
  }

 private:
  Function function_;
};

template <>
class FunctionalHook<PostAccumulateGradHook> final : public PostAccumulateGradHook {
 public:
  using Function = std::function<void(const Tensor&)>;
  explicit FunctionalHook(Function function) : function_(std::move(function)) {}
  void operator()(const Tensor& variable) override { function_(variable); }

 private:
  Function function_;
};

/// Registers a function as a hook and returns the hook, which identifies it for removal.
inline const TensorPreHook* hook_tensor(const Tensor& t,
                                        FunctionalHook<TensorPreHook>::Function function) {
  auto hook = std::make_shared<FunctionalHook<TensorPreHook>>(std::move(function));
  const TensorPreHook* raw = hook.get();
  register_hook(t, std::move(hook));
  return raw;
}
inline const NodePreHook* hook_before(Node& node, FunctionalHook<NodePreHook>::Function function) {
  auto hook = std::make_shared<FunctionalHook<NodePreHook>>(std::move(function));
  const NodePreHook* raw = hook.get();
  node.add_pre_hook(std::move(hook));
  return raw;
}
inline const NodePostHook* hook_after(Node& node, FunctionalHook<NodePostHook>::Function function) {
  auto hook = std::make_shared<FunctionalHook<NodePostHook>>(std::move(function));
  const NodePostHook* raw = hook.get();
  node.add_post_hook(std::move(hook));
  return raw;
}
inline const PostAccumulateGradHook* hook_accumulated(
    const Tensor& t, FunctionalHook<PostAccumulateGradHook>::Function function) {
  auto hook = std::make_shared<FunctionalHook<PostAccumulateGradHook>>(std::move(function));
  const PostAccumulateGradHook* raw = hook.get();
  register_post_accumulate_grad_hook(t, std::move(hook));
  return raw;
}

}  // namespace eg::testing
