#pragma once

// Hooks on saved tensors: where the values kept for backward are kept.
//
// A pair of hooks belongs to one saved tensor. pack() gets the value once, when it is saved;
// unpack() must give it back, each time backward or a reader asks. A pair is set on one tensor with
// SavedVariable::register_hooks, or made for every tensor that is saved while default hooks are
// active: a stack per thread, of which the innermost entry counts.

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

/// Makes the hooks of the next tensor to be saved.
using SavedVariableHooksFactory = std::function<std::unique_ptr<SavedVariableHooks>()>;

/// An entry of the stack. Its scope has one reference, work that takes the mode along others.
struct SavedTensorHooksFrame final : RefCounted {
  SavedTensorHooksFrame(SavedVariableHooksFactory factory, SavedTensorHooksFrame* previous)
      : factory(std::move(factory)), previous(previous) {}
  static void on_last_release(SavedTensorHooksFrame* frame) { delete frame; }

  const SavedVariableHooksFactory factory;
  const IntrusivePtr<SavedTensorHooksFrame> previous;
};

/// Why default hooks may not be used, and the reason that this one hides; held like a frame.
struct DisabledSavedTensorHooks final : RefCounted {
  DisabledSavedTensorHooks(std::string reason, DisabledSavedTensorHooks* previous)
      : reason(std::move(reason)), previous(previous) {}
  static void on_last_release(DisabledSavedTensorHooks* frame) { delete frame; }

  const std::string reason;
  const IntrusivePtr<DisabledSavedTensorHooks> previous;
};

/// Makes `factory` the innermost default hooks of this thread; throws while they are disabled.
void push_saved_tensor_hooks(SavedVariableHooksFactory factory);
/// Undoes the last push of this thread.
void pop_saved_tensor_hooks();

/// Makes every push fail with `message` until the matching enable; throws it now when hooks are
/// active. Nested calls hide each other.
void disable_saved_tensor_hooks(std::string message);
/// Undoes the last disable of this thread.
void enable_saved_tensor_hooks();

/// The hooks for a tensor that is being saved now, or null.
std::unique_ptr<SavedVariableHooks> make_default_saved_tensor_hooks();

/// True when tensors saved by this thread go through default hooks.
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

/// Forbids default hooks in a scope.
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
