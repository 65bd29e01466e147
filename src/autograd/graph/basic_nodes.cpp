#include "autograd/graph/basic_nodes.h"

#include "autograd/grad_mode.h"
#include "autograd/graph/variable.h"
#include "base/error.h"

namespace eg {
namespace {

// An alias of `t`, with a history if operations are being recorded.
template <class MakeNode>
Tensor identity_with(const Tensor& t, MakeNode&& make_node) {
  Tensor result = detach(t);
  if (is_grad_enabled() && requires_grad(t)) {
    set_history(result, make_node(EdgeList{gradient_edge(t)}));
  }
  return result;
}

}  // namespace

GraphRoot::GraphRoot(EdgeList roots, GradList grads)
    : Node(std::move(roots)), grads_(std::move(grads)) {
  for (const Tensor& grad : grads_) {
    if (grad.defined()) add_input_metadata(grad);
  }
}

GradList GraphRoot::apply(GradList&&) { return grads_; }

GradList ErrorNode::apply(GradList&&) { fail(ErrorCode::kNotDifferentiable, message_); }

Tensor delayed_error(const Tensor& t, std::string message) {
  return identity_with(t, [&](EdgeList edges) {
    return make_intrusive<ErrorNode>(std::move(message), std::move(edges));
  });
}

Tensor undefined_grad(const Tensor& t) {
  return identity_with(
      t, [](EdgeList edges) { return make_intrusive<UndefinedGradNode>(std::move(edges)); });
}

void set_not_implemented(const Tensor& output, const TensorList& inputs, std::string_view name) {
  if (!is_grad_enabled()) return;
  EdgeList edges;
  bool any = false;
  for (const Tensor& input : inputs) {
    edges.push_back(gradient_edge(input));
    any = any || edges.back().is_valid();
  }
  if (!any) return;
  set_history(output, make_intrusive<ErrorNode>(join_text(name, " has no derivative yet."),
                                                std::move(edges)));
}

}  // namespace eg
