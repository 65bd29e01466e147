#include "autograd/graph/variable.h"
#include "autograd/tensor_math.h"
#include "base/error.h"

namespace eg {
namespace {

// Fills the `.grad` of a result. Holds it weakly: tensor -> node -> hook -> tensor would be a
// cycle.
class RetainGradHook final : public TensorPreHook {
 public:
  explicit RetainGradHook(const Tensor& t) : variable_(t.impl_ptr()) {}

  Tensor operator()(const Tensor& grad) override {
    const Tensor variable(variable_.lock());
    if (!variable.defined() || !grad.defined()) return grad;
    // Again where another thread has changed the gradient meanwhile.
    for (;;) {
      const Tensor retained = eg::grad(variable);
      Tensor next = retained.defined()
                        ? math::add(retained, grad)
                        : math::clone_with_strides(grad, contiguous_strides(grad.shape()));
      if (replace_grad(variable, retained, std::move(next))) return grad;
    }
  }

 private:
  WeakPtr<TensorImpl> variable_;
};

void check_can_hook(const Tensor& t, std::string_view op) {
  check(requires_grad(t), ErrorCode::kInvalidArgument, op,
        "cannot register a hook on a tensor that doesn't require gradient");
}

}  // namespace

void register_hook(const Tensor& t, std::shared_ptr<TensorPreHook> hook) {
  check_can_hook(t, "registerHook");
  const Edge made_by = history(t);
  VariableHooks& hooks = ensure_autograd_meta(t).hooks.ensure();
  if (!made_by.is_valid()) {
    hooks.tensor_hooks.add(std::move(hook));
    return;
  }
  {
    const std::scoped_lock lock(hooks.mutex);
    hooks.places.push_back({hook.get(), WeakPtr<Node>(made_by.function)});
  }
  made_by.function->add_tensor_pre_hook(made_by.input_nr, std::move(hook));
}

void remove_hook(const Tensor& t, const TensorPreHook* hook) {
  const AutogradMeta* meta = autograd_meta(t);
  VariableHooks* hooks = meta == nullptr ? nullptr : meta->hooks.get();
  if (hooks == nullptr) return;
  hooks->tensor_hooks.remove(hook);
  IntrusivePtr<Node> node;
  {
    const std::scoped_lock lock(hooks->mutex);
    const auto place = std::find_if(hooks->places.begin(), hooks->places.end(),
                                    [&](const auto& candidate) { return candidate.hook == hook; });
    if (place == hooks->places.end()) return;
    node = place->node.lock();
    hooks->places.erase(place);
  }
  if (node != nullptr) node->remove_tensor_pre_hook(hook);
}

void register_post_accumulate_grad_hook(const Tensor& t,
                                        std::shared_ptr<PostAccumulateGradHook> hook) {
  check_can_hook(t, "registerPostAccumulateGradHook");
  check(is_leaf(t), ErrorCode::kInvalidArgument, "registerPostAccumulateGradHook",
        "post accumulate grad hooks cannot be registered on non-leaf tensors");
  autograd_meta(t)->hooks.ensure().post_accumulate_grad_hooks.add(std::move(hook));
}

void remove_post_accumulate_grad_hook(const Tensor& t, const PostAccumulateGradHook* hook) {
  const AutogradMeta* meta = autograd_meta(t);
  VariableHooks* hooks = meta == nullptr ? nullptr : meta->hooks.get();
  if (hooks != nullptr) hooks->post_accumulate_grad_hooks.remove(hook);
}

void retain_grad(const Tensor& t) {
  check(requires_grad(t), ErrorCode::kInvalidArgument, "retainGrad",
        "can't retain_grad on Tensor that has requires_grad=False");
  const Edge made_by = history(t);
  if (!made_by.is_valid()) return;
  VariableHooks& hooks = ensure_autograd_meta(t).hooks.ensure();
  {
    const std::scoped_lock lock(hooks.mutex);
    if (std::exchange(hooks.retains_grad, true)) return;
  }
  made_by.function->add_retains_grad_hook(made_by.input_nr, std::make_shared<RetainGradHook>(t));
}

bool retains_grad(const Tensor& t) {
  const AutogradMeta* meta = autograd_meta(t);
  VariableHooks* hooks = meta == nullptr ? nullptr : meta->hooks.get();
  if (hooks == nullptr) return false;
  const std::scoped_lock lock(hooks->mutex);
  return hooks->retains_grad;
}

void move_retains_grad_hook(const Tensor& t, const Edge& previous, const Edge& next) {
  if (!previous.is_valid() || !next.is_valid() || !retains_grad(t)) return;
  if (auto hook = previous.function->take_retains_grad_hook(previous.input_nr)) {
    next.function->add_retains_grad_hook(next.input_nr, std::move(hook));
  }
}

}  // namespace eg
