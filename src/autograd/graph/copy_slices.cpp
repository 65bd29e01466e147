#include "autograd/graph/copy_slices.h"

#include "autograd/graph/saved_variable.h"
#include "autograd/graph/variable.h"
#include "base/error.h"

namespace eg {

CopySlices::CopySlices(const Tensor& base, const Tensor& view, IntrusivePtr<Node> fn)
    : base_shape_(base.shape()),
      base_strides_(base.strides()),
      view_(base, view),
      fn_(std::move(fn)) {
  // fn's first edge led to the view's previous history, which no backward call reaches any more.
  // With the base's edge instead, fn's first gradient is needed exactly when this node's is.
  EdgeList edges = fn_->next_edges();
  edges[0] = gradient_edge(base);
  fn_->set_next_edges(edges);
  set_next_edges(std::move(edges));
}

GradList CopySlices::apply(GradList&& grads) {
  const Tensor grad = std::move(grads[0]);
  GradList result(num_outputs());
  if (!grad.defined()) return result;
  // Runs without the lock: it may be a user's function.
  const IntrusivePtr<Node> fn = [&] {
    const std::scoped_lock lock(mutex());
    return fn_;
  }();
  if (fn == nullptr) fail_graph_freed();

  // A copy with the base's strides, in which the view's strides and offset are valid.
  const Tensor base_grad = math::clone_with_strides(grad, base_strides_);
  const Tensor slice = math::view_part(base_grad, view_);
  GradList fn_grads;
  fn_grads.push_back(math::clone(slice));
  GradList fn_result = fn->apply(std::move(fn_grads));
  invariant(fn_result.size() == num_outputs(), "CopySlices: the in-place function returned ",
            fn_result.size(), " gradients, expected ", num_outputs(), '.');
  if (task_should_compute_output(0)) {
    // An undefined gradient of the view means zero; the rest of the base keeps its gradient.
    const Tensor slice_grad = fn_result[0].defined() ? fn_result[0] : math::zeros_like(slice);
    math::copy_values(slice, slice_grad);
    result[0] = base_grad;
  }
  for (std::size_t i = 1; i < num_outputs(); ++i) {
    if (task_should_compute_output(i)) result[i] = std::move(fn_result[i]);
  }
  return result;
}

void CopySlices::release_variables() {
  IntrusivePtr<Node> released;
  {
    const std::scoped_lock lock(mutex());
    released = std::move(fn_);
    fn_ = nullptr;
  }
  // Destroyed here, without the lock: destroying what a node saved may run user code.
}

}  // namespace eg
