#include "autograd/hooks/saved_tensor_hooks.h"

#include "base/error.h"

namespace eg {

struct SavedTensorHooksFrame {
  SavedVariableHooksFactory factory;
  const SavedTensorHooksFrame* previous;
};

namespace {

// A reason, and the one it hides. `text` is first: the state points at it.
struct DisabledFrame {
  std::string text;
  const std::string* previous;
};
thread_local std::vector<std::unique_ptr<DisabledFrame>> disabled_frames;

}  // namespace

void push_saved_tensor_hooks(SavedVariableHooksFactory factory) {
  AutogradState& state = autograd_state();
  if (state.saved_tensor_hooks_disabled != nullptr) {
    fail(ErrorCode::kInvalidArgument, *state.saved_tensor_hooks_disabled);
  }
  state.saved_tensor_hooks =
      new SavedTensorHooksFrame{std::move(factory), state.saved_tensor_hooks};
}

void pop_saved_tensor_hooks() {
  AutogradState& state = autograd_state();
  invariant(state.saved_tensor_hooks != nullptr, "There are no saved tensor hooks to pop.");
  const std::unique_ptr<const SavedTensorHooksFrame> popped(state.saved_tensor_hooks);
  state.saved_tensor_hooks = popped->previous;
}

void disable_saved_tensor_hooks(std::string message) {
  AutogradState& state = autograd_state();
  if (state.saved_tensor_hooks != nullptr) fail(ErrorCode::kInvalidArgument, message);
  disabled_frames.push_back(std::make_unique<DisabledFrame>(
      DisabledFrame{std::move(message), state.saved_tensor_hooks_disabled}));
  state.saved_tensor_hooks_disabled = &disabled_frames.back()->text;
}

void enable_saved_tensor_hooks() {
  invariant(!disabled_frames.empty(), "Saved tensor hooks are not disabled.");
  autograd_state().saved_tensor_hooks_disabled = disabled_frames.back()->previous;
  disabled_frames.pop_back();
}

std::unique_ptr<SavedVariableHooks> make_default_saved_tensor_hooks() {
  const SavedTensorHooksFrame* frame = autograd_state().saved_tensor_hooks;
  return frame == nullptr ? nullptr : frame->factory();
}

}  // namespace eg
