#include "hooks.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include <emscripten/bind.h>

#include "autograd/variable.h"
#include "border.h"

namespace eg::bindings {
namespace {

// How to remove the hooks there are, by the number of their function.
class Removers {
 public:
  static Removers& instance() {
    static auto* const removers = new Removers;
    return *removers;
  }

  void add(double id, std::function<void()> remove) {
    const std::scoped_lock lock(mutex_);
    removers_.insert_or_assign(id, std::move(remove));
  }

  std::function<void()> take(double id) {
    const std::scoped_lock lock(mutex_);
    const auto found = removers_.extract(id);
    return found.empty() ? nullptr : std::move(found.mapped());
  }

 private:
  std::mutex mutex_;
  std::unordered_map<double, std::function<void()>> removers_;
};

void remove_hook(double id) {
  if (const std::function<void()> remove = Removers::instance().take(id)) remove();
}

// Sees a gradient, or 0; answers nothing, or the handle of another gradient.
class JsTensorHook final : public TensorPreHook, public JsHook {
 public:
  using JsHook::JsHook;

  Tensor operator()(const Tensor& grad) override {
    const Words results = function()({return_tensor(grad)});
    return results.empty() ? grad : handles().get(results[0]);
  }
};

double register_tensor_hook(Handle handle, double id) {
  const auto hook = std::make_shared<JsTensorHook>(id);
  return guard([&] {
    const Tensor& t = handles().get(handle);
    register_hook(t, hook);
    const TensorPreHook* const address = hook.get();
    if (const IntrusivePtr<Node> node = grad_fn(t)) {
      hook->set_remove([weak = WeakPtr<Node>(node), address] {
        if (const IntrusivePtr<Node> owner = weak.lock()) owner->remove_tensor_pre_hook(address);
      });
    } else {
      hook->set_remove([weak = WeakPtr<TensorImpl>(t.impl()), address] {
        if (IntrusivePtr<TensorImpl> leaf = weak.lock()) {
          remove_hook(Tensor(std::move(leaf)), address);
        }
      });
    }
    return 0;
  });
}

}  // namespace

JsHook::~JsHook() { Removers::instance().take(function_.id()); }

void JsHook::set_remove(std::function<void()> remove) const {
  Removers::instance().add(function_.id(), std::move(remove));
}

EMSCRIPTEN_BINDINGS(hooks) {
  emscripten::function("registerHook", &register_tensor_hook);
  emscripten::function("removeHook", &remove_hook);
}

}  // namespace eg::bindings
