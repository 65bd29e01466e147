#include "autograd/hooks/saved_tensor_hooks.h"

#include "base/error.h"

namespace eg {

void push_saved_tensor_hooks(SavedVariableHooksFactory factory) {
  AutogradState& state = autograd_state();
  if (state.saved_tensor_hooks_disabled != nullptr) {
    fail(ErrorCode::kInvalidArgument, state.saved_tensor_hooks_disabled->reason);
  }
  state.saved_tensor_hooks =
      make_intrusive<SavedTensorHooksFrame>(std::move(factory), state.saved_tensor_hooks).detach();
}

void pop_saved_tensor_hooks() {
  AutogradState& state = autograd_state();
  invariant(state.saved_tensor_hooks != nullptr, "there are no saved-tensor hooks to pop.");
  const auto popped = IntrusivePtr<SavedTensorHooksFrame>::adopt(state.saved_tensor_hooks);
  state.saved_tensor_hooks = popped->previous.get();
}

void disable_saved_tensor_hooks(std::string message) {
  AutogradState& state = autograd_state();
  if (state.saved_tensor_hooks != nullptr) fail(ErrorCode::kInvalidArgument, message);
  state.saved_tensor_hooks_disabled = make_intrusive<DisabledSavedTensorHooks>(
                                          std::move(message), state.saved_tensor_hooks_disabled)
                                          .detach();
}

void enable_saved_tensor_hooks() {
  AutogradState& state = autograd_state();
  invariant(state.saved_tensor_hooks_disabled != nullptr, "saved-tensor hooks are not disabled.");
  const auto ended =
      IntrusivePtr<DisabledSavedTensorHooks>::adopt(state.saved_tensor_hooks_disabled);
  state.saved_tensor_hooks_disabled = ended->previous.get();
}

std::unique_ptr<SavedVariableHooks> make_default_saved_tensor_hooks() {
  const SavedTensorHooksFrame* frame = autograd_state().saved_tensor_hooks;
  return frame == nullptr ? nullptr : frame->factory();
}

}  // namespace eg
