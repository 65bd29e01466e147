#include "autograd/hooks/hooks.h"

#include "base/error.h"

namespace eg {
namespace {

void check_hook_result(const Tensor& original, const Tensor& result, const Hook& hook) {
  if (!result.defined() || result.is_same(original)) return;
  if (!original.defined()) {
    fail(ErrorCode::kInvalidGradient, "a hook cannot replace a null gradient with a tensor.");
  }
  if (result.dtype() != original.dtype() || !(result.device() == original.device())) {
    fail(ErrorCode::kInvalidGradient, "hook '", hook.name(), "' returned a gradient of ",
         result.dtype(), " on ", result.device(), ", expected ", original.dtype(), " on ",
         original.device(), '.');
  }
  if (result.shape() != original.shape()) {
    fail(ErrorCode::kInvalidGradient, "hook '", hook.name(), "' returned a gradient of shape ",
         result.shape(), ", expected ", original.shape(), '.');
  }
}

}  // namespace

void check_hook_result(const GradList& original, const GradList& result, const Hook& hook) {
  if (result.size() != original.size()) {
    fail(ErrorCode::kInvalidGradient, "hook '", hook.name(), "' returned ", result.size(),
         " gradients, expected ", original.size(), '.');
  }
  for (std::size_t i = 0; i < result.size(); ++i) check_hook_result(original[i], result[i], hook);
}

void run_tensor_hooks(const HookList<TensorPreHook>& hooks, GradList& grads) {
  for (const auto& [hook, slot] : hooks.snapshot()) {
    Tensor result = (*hook)(grads[slot]);
    check_hook_result(grads[slot], result, *hook);
    grads[slot] = std::move(result);
  }
}

}  // namespace eg
