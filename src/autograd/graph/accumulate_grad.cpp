// compile: engine

#include "autograd/graph/accumulate_grad.h"

#include "autograd/grad_mode.h"
#include "autograd/graph/recorded_tensors.h"
#include "autograd/graph/variable.h"
#include "autograd/tensor_math.h"
#include "base/error.h"
#include "tensor/sparse.h"

namespace eg {
namespace {

// A gradient has its leaf's strides if the leaf is dense, and is row-major otherwise.
Strides gradient_strides(const Tensor& variable) {
  return is_non_overlapping_and_dense(variable.shape(), variable.strides())
             ? variable.strides()
             : contiguous_strides(variable.shape());
}

bool obeys_layout(const Tensor& grad, const Strides& strides) {
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (grad.shape()[i] != 1 && grad.strides()[i] != strides[i]) return false;
  }
  return true;
}

// The first gradient of a leaf: adopted without a copy if nothing else refers to it, else copied.
// `own_references` is the number of handles that the running call itself holds.
Tensor first_gradient(const Tensor& variable, const Tensor& grad, std::uint32_t own_references) {
  if (grad.is_sparse()) {
    const SparseParts& parts = grad.sparse();
    const bool is_owned = !ops_are_differentiated() && grad.use_count() <= own_references &&
                          parts.use_count() == 1 && parts.values.use_count() == 1 &&
                          parts.values.storage()->use_count() == 1;
    return is_owned ? detach(grad) : math::clone(grad);
  }
  const Strides strides = gradient_strides(variable);
  if (ops_are_differentiated()) {
    return obeys_layout(grad, strides) ? math::clone(grad)
                                       : math::clone_with_strides(grad, strides);
  }
  const bool sole_owner = grad.use_count() <= own_references && grad.storage()->use_count() == 1;
  if (sole_owner && obeys_layout(grad, strides)) return detach(grad);
  return math::clone_with_strides(grad, strides);
}

}  // namespace

AccumulateGrad::AccumulateGrad(Tensor variable)
    : Node({}, kAccumulateGradSequenceNr), variable_(std::move(variable)) {
  add_input_metadata(variable_);
}

GradList AccumulateGrad::apply(GradList&& grads) {
  const Tensor grad = std::move(grads[0]);
  if (!grad.defined()) return {};
  invariant(!autograd_meta(variable_)->has_history(),
            "a leaf has become the result of an operation since its gradient node was created.");
  if (!requires_grad(variable_)) return {};
  if (Recording* const active = recording()) [[unlikely]]
    active->tensors->accumulate(variable_, grad, [&] { accumulate(grad); });
  else
    accumulate(grad);
  if (const VariableHooks* hooks = autograd_meta(variable_)->hooks.get()) {
    for (const auto& [hook, slot] : hooks->post_accumulate_grad_hooks.snapshot()) {
      (*hook)(variable_);
    }
  }
  return {};
}

void AccumulateGrad::accumulate(const Tensor& grad) {
  // Post-hooks receive the incoming gradient, so the engine holds a second handle for them.
  const std::uint32_t own_references = has_post_hooks() ? 2 : 1;
  // The lock serializes additions. The user's own changes of `.grad` do not take it: if one happens
  // in between, the addition is repeated on the new value.
  const auto lock = lock_objects(mutex());
  for (;;) {
    const Tensor accumulated = eg::grad(variable_);
    // The sum of a sparse and a dense gradient is dense, so that the first cannot become it.
    const bool changes_layout =
        accumulated.defined() && accumulated.is_sparse() && !grad.is_sparse();
    if (accumulated.defined() && !ops_are_differentiated() && !changes_layout) {
      math::add_in_place(accumulated, grad);
      return;
    }
    Tensor next = accumulated.defined() ? math::add(accumulated, grad)
                                        : first_gradient(variable_, grad, own_references);
    if (replace_grad(variable_, accumulated, std::move(next))) return;
  }
}

void AccumulateGrad::clear() {
  Node::clear();
  // The leaf refers to this node weakly: without the reset the two would keep each other alive.
  variable_.reset();
}

void AccumulateGrad::run_tensor_pre_hooks(GradList& grads) {
  if (const VariableHooks* hooks = autograd_meta(variable_)->hooks.get()) {
    run_tensor_hooks(hooks->tensor_hooks, grads);
  }
}

bool AccumulateGrad::has_hooks() const {
  return Node::has_hooks() || autograd_meta(variable_)->hooks.get() != nullptr;
}

}  // namespace eg
