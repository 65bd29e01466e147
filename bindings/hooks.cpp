#include "hooks.h"

#include <memory>
#include <optional>
#include <utility>

#include "autograd/engine/engine.h"
#include "autograd/graph/variable.h"
#include "border.h"

namespace eg::bindings {
namespace {

// The registrations of all hooks by their functions.
JsTable<std::shared_ptr<const HookRegistration>>& registrations() {
  static auto* const all = new JsTable<std::shared_ptr<const HookRegistration>>;
  return *all;
}

IntrusivePtr<Node> node_of(const IntrusivePtr<Node>& node) { return node; }
IntrusivePtr<Node> node_of(const IntrusivePtr<TensorImpl>& leaf) {
  return try_grad_accumulator(Tensor(leaf));
}

// Records that `owner`, a node or a leaf, has the hook, and how to remove it. Before the owner gets
// the hook, because this can fail: JavaScript could not remove a hook that is not recorded.
template <class Owner, class Hook>
void record_registration(const IntrusivePtr<Owner>& owner, const std::shared_ptr<Hook>& hook,
                         void (*remove)(const IntrusivePtr<Owner>&, const Hook*)) {
  const WeakPtr<Owner> weak(owner);
  hook->set_registration({
      [weak, address = hook.get(), remove] {
        if (const IntrusivePtr<Owner> alive = weak.lock()) remove(alive, address);
      },
      [weak]() -> IntrusivePtr<Node> {
        const IntrusivePtr<Owner> alive = weak.lock();
        return alive == nullptr ? nullptr : node_of(alive);
      },
  });
}

// Appends a list: its length, then the handles.
void append_list(Arguments& arguments, const GradList& grads) {
  arguments.add(static_cast<double>(grads.size()));
  for (const Tensor& grad : grads) arguments.add(grad);
}

// Reads the result of a hook on a node: nothing, or a list.
std::optional<GradList> list_in(const Words& answer) {
  if (answer.empty()) return std::nullopt;
  GradList grads;
  for (std::size_t i = 1; i < answer.size(); ++i)
    grads.push_back(handles().get_optional(answer[i]));
  return grads;
}

// A hook that receives the handle of a gradient, or 0, and returns nothing or the handle of another
// gradient.
class JsTensorHook final : public TensorPreHook, public JsHook {
 public:
  using JsHook::JsHook;

  std::string name() const override { return function().name(); }
  Tensor operator()(const Tensor& grad) override {
    const Tensor other = function().call(Arguments(grad), [](const Words& answer) {
      return answer.empty() ? Tensor() : handles().get(answer[0]);
    });
    return other.defined() ? other : grad;
  }
};

class JsPostAccumulateGradHook final : public PostAccumulateGradHook, public JsHook {
 public:
  using JsHook::JsHook;

  std::string name() const override { return function().name(); }
  void operator()(const Tensor& variable) override { function()(Arguments(variable)); }
};

class JsNodePreHook final : public NodePreHook, public JsHook {
 public:
  using JsHook::JsHook;

  std::string name() const override { return function().name(); }
  GradList operator()(GradList grad_outputs) override {
    Arguments arguments;
    append_list(arguments, grad_outputs);
    return function().call(std::move(arguments), &list_in).value_or(std::move(grad_outputs));
  }
};

class JsNodePostHook final : public NodePostHook, public JsHook {
 public:
  using JsHook::JsHook;

  std::string name() const override { return function().name(); }
  GradList operator()(GradList grad_inputs, const GradList& grad_outputs) override {
    Arguments arguments;
    append_list(arguments, grad_inputs);
    append_list(arguments, grad_outputs);
    return function().call(std::move(arguments), &list_in).value_or(std::move(grad_inputs));
  }
};

}  // namespace

// Removes the hook with this callback, if it is still registered.
EG_EXPORT("removeHook")
void remove(double id) {
  const NativeCall call;
  if (const auto registration = registrations().get(JsRef::here(id))) registration->remove();
}

// Returns 1 if the running backward call will call this hook of a tensor, else 0.
EG_EXPORT("hookWillRun")
double will_run(double id) {
  return guard([&] {
    const auto registration = registrations().get(JsRef::here(id));
    const IntrusivePtr<Node> node = registration == nullptr ? nullptr : registration->node();
    return node != nullptr && Engine::will_execute_node(*node);
  });
}

EG_EXPORT("registerHook")
double register_tensor_hook(Handle handle, double id) {
  return guard([&] {
    const auto hook = received<JsTensorHook>(id);
    const Tensor t = handles().get(handle);
    // Registered with the node and not the tensor, because the node runs the hook even after the
    // tensor has been freed.
    if (const IntrusivePtr<Node> node = grad_fn(t)) {
      record_registration<Node, JsTensorHook>(
          node, hook,
          [](const auto& owner, const auto* address) { owner->remove_tensor_pre_hook(address); });
    } else {
      record_registration<TensorImpl, JsTensorHook>(
          t.impl_ptr(), hook,
          [](const auto& leaf, const auto* address) { eg::remove_hook(Tensor(leaf), address); });
    }
    register_hook(t, hook);
    return 0;
  });
}

EG_EXPORT("registerPostAccumulateGradHook")
double register_post_accumulate_hook(Handle handle, double id) {
  return guard([&] {
    const auto hook = received<JsPostAccumulateGradHook>(id);
    const Tensor t = handles().get(handle);
    record_registration<TensorImpl, JsPostAccumulateGradHook>(
        t.impl_ptr(), hook, [](const auto& leaf, const auto* address) {
          remove_post_accumulate_grad_hook(Tensor(leaf), address);
        });
    register_post_accumulate_grad_hook(t, hook);
    return 0;
  });
}

EG_EXPORT("registerNodePrehook")
double register_node_pre_hook(Handle handle, double id) {
  return guard([&] {
    const auto hook = received<JsNodePreHook>(id);
    const IntrusivePtr<Node> node = handles().get_node(handle);
    record_registration<Node, JsNodePreHook>(
        node, hook,
        [](const auto& owner, const auto* address) { owner->remove_pre_hook(address); });
    node->add_pre_hook(hook);
    return 0;
  });
}

EG_EXPORT("registerNodeHook")
double register_node_post_hook(Handle handle, double id) {
  return guard([&] {
    const auto hook = received<JsNodePostHook>(id);
    const IntrusivePtr<Node> node = handles().get_node(handle);
    record_registration<Node, JsNodePostHook>(
        node, hook,
        [](const auto& owner, const auto* address) { owner->remove_post_hook(address); });
    node->add_post_hook(hook);
    return 0;
  });
}

JsHook::~JsHook() { registrations().erase(function_.ref()); }

void JsHook::set_registration(HookRegistration registration) const {
  registrations().set(function_.ref(),
                      std::make_shared<const HookRegistration>(std::move(registration)));
}

}  // namespace eg::bindings
