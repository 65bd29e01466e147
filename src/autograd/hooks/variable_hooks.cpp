#include "autograd/graph/variable.h"
#include "autograd/tensor_math.h"
#include "base/error.h"

namespace eg {
namespace {

// Fills the `.grad` of a result. Holds the result weakly: tensor -> node -> hook -> tensor would be
// a cycle.
class RetainGradHook final : public TensorPreHook {
 public:
  explicit RetainGradHook(const Tensor& t) : variable_(t.impl_ptr()) {}

  Tensor operator()(const Tensor& grad) override {
    const Tensor variable(variable_.lock());
    if (!variable.defined() || !grad.defined()) return grad;
    // Retries if another thread has changed the gradient in the meantime.
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
        "the tensor does not require a gradient, so its hook would never run.");
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
    hooks.hook_locations.push_back({hook.get(), WeakPtr<Node>(made_by.function)});
  }
  try {
    made_by.function->add_tensor_pre_hook(made_by.input_nr, hook);
  } catch (...) {
    const std::scoped_lock lock(hooks.mutex);
    std::erase_if(hooks.hook_locations,
                  [&](const auto& entry) { return entry.hook == hook.get(); });
    throw;
  }
}

void remove_hook(const Tensor& t, const TensorPreHook* hook) {
  const AutogradMeta* meta = autograd_meta(t);
  VariableHooks* hooks = meta == nullptr ? nullptr : meta->hooks.get();
  if (hooks == nullptr) return;
  hooks->tensor_hooks.remove(hook);
  IntrusivePtr<Node> node;
  {
    const std::scoped_lock lock(hooks->mutex);
    const auto location =
        std::find_if(hooks->hook_locations.begin(), hooks->hook_locations.end(),
                     [&](const auto& candidate) { return candidate.hook == hook; });
    if (location == hooks->hook_locations.end()) return;
    node = location->node.lock();
    hooks->hook_locations.erase(location);
  }
  if (node != nullptr) node->remove_tensor_pre_hook(hook);
}

void register_post_accumulate_grad_hook(const Tensor& t,
                                        std::shared_ptr<PostAccumulateGradHook> hook) {
  check_can_hook(t, "registerPostAccumulateGradHook");
  check(is_leaf(t), ErrorCode::kInvalidArgument, "registerPostAccumulateGradHook",
        "only a leaf tensor accumulates gradients, got the result of an operation.");
  autograd_meta(t)->hooks.ensure().post_accumulate_grad_hooks.add(std::move(hook));
}

void remove_post_accumulate_grad_hook(const Tensor& t, const PostAccumulateGradHook* hook) {
  const AutogradMeta* meta = autograd_meta(t);
  VariableHooks* hooks = meta == nullptr ? nullptr : meta->hooks.get();
  if (hooks != nullptr) hooks->post_accumulate_grad_hooks.remove(hook);
}

void retain_grad(const Tensor& t) {
  check(requires_grad(t), ErrorCode::kInvalidArgument, "retainGrad",
        "the tensor does not require a gradient, so there is none to retain.");
  const Edge made_by = history(t);
  if (!made_by.is_valid()) return;
  VariableHooks& hooks = ensure_autograd_meta(t).hooks.ensure();
  auto hook = std::make_shared<RetainGradHook>(t);
  const auto exchange_retains = [&](bool value) {
    const std::scoped_lock lock(hooks.mutex);
    return std::exchange(hooks.retains_grad, value);
  };
  if (exchange_retains(true)) return;
  try {
    made_by.function->add_retains_grad_hook(made_by.input_nr, std::move(hook));
  } catch (...) {
    exchange_retains(false);
    throw;
  }
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
