#pragma once

// Hooks on saved tensors, which decide where values saved for backward are stored.
//
// A pair of hooks belongs to one saved tensor. pack() receives the value once, when it is saved;
// unpack() must return it each time backward or a reader needs it. A pair is set on one tensor with
// SavedVariable::register_hooks, or made for every tensor saved while default hooks are active.
// Default hooks form a stack per thread, whose innermost entry is used.

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/intrusive_ptr.h"
#include "tensor/autograd_state.h"
#include "tensor/tensor.h"

namespace eg {

/// One pair of hooks on one saved tensor.
class SavedVariableHooks {
 public:
  virtual ~SavedVariableHooks() = default;
  virtual void pack(const Tensor& tensor) = 0;
  virtual Tensor unpack() = 0;
};

/// Makes the hooks for one tensor that is being saved.
using SavedVariableHooksFactory = std::function<std::unique_ptr<SavedVariableHooks>()>;

/// An entry of the stack. Its scope holds one reference, and work that captured the modes holds
/// others.
struct SavedTensorHooksFrame final : RefCounted {
  SavedTensorHooksFrame(SavedVariableHooksFactory factory, SavedTensorHooksFrame* previous)
      : factory(std::move(factory)), previous(previous) {}
  static void on_last_release(SavedTensorHooksFrame* frame) { delete frame; }

  const SavedVariableHooksFactory factory;
  const IntrusivePtr<SavedTensorHooksFrame> previous;
};

/// The reason why default hooks are disabled, and the reason it hides; held like a frame.
struct DisabledSavedTensorHooks final : RefCounted {
  DisabledSavedTensorHooks(std::string reason, DisabledSavedTensorHooks* previous)
      : reason(std::move(reason)), previous(previous) {}
  static void on_last_release(DisabledSavedTensorHooks* frame) { delete frame; }

  const std::string reason;
  const IntrusivePtr<DisabledSavedTensorHooks> previous;
};

/// Makes `factory` the innermost default hooks of this thread; throws while they are disabled.
void push_saved_tensor_hooks(SavedVariableHooksFactory factory);
/// Reverts the last push of this thread.
void pop_saved_tensor_hooks();

/// Makes every push fail with `message` until the matching enable; throws `message` immediately if
/// hooks are active. Calls nest: the innermost message is used.
void disable_saved_tensor_hooks(std::string message);
/// Reverts the last disable of this thread.
void enable_saved_tensor_hooks();

/// Makes the hooks for a tensor that is being saved, or returns null without default hooks.
std::unique_ptr<SavedVariableHooks> make_default_saved_tensor_hooks();

/// Returns true when default hooks are active on this thread.
inline bool has_default_saved_tensor_hooks() {
  return autograd_state().saved_tensor_hooks != nullptr;
}

/// Default hooks for a scope.
class SavedTensorHooksGuard {
 public:
  explicit SavedTensorHooksGuard(SavedVariableHooksFactory factory) {
    push_saved_tensor_hooks(std::move(factory));
  }
  ~SavedTensorHooksGuard() { pop_saved_tensor_hooks(); }
  SavedTensorHooksGuard(const SavedTensorHooksGuard&) = delete;
  SavedTensorHooksGuard& operator=(const SavedTensorHooksGuard&) = delete;
};

/// Disables default hooks in a scope.
class DisableSavedTensorHooksGuard {
 public:
  explicit DisableSavedTensorHooksGuard(std::string message) {
    disable_saved_tensor_hooks(std::move(message));
  }
  ~DisableSavedTensorHooksGuard() { enable_saved_tensor_hooks(); }
  DisableSavedTensorHooksGuard(const DisableSavedTensorHooksGuard&) = delete;
  DisableSavedTensorHooksGuard& operator=(const DisableSavedTensorHooksGuard&) = delete;
};

}  // namespace eg
