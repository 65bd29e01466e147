#pragma once

// Which ops are recorded. Grad mode is the ordinary switch. Inference mode is stricter: results
// have no version counter and can never be part of a graph, views are not tracked, and nothing is
// recorded regardless of grad mode. Both are per thread and set by guards, which restore the
// previous value, also when an exception is thrown.

#include "tensor/autograd_state.h"

namespace eg {

/// The grad-mode switch alone; ops_are_recorded() also considers inference mode.
inline bool is_grad_enabled() { return autograd_state().grad_mode; }

inline bool is_inference_mode_enabled() { return autograd_state().inference_mode; }

/// True when operations on tensors that require a gradient are recorded.
inline bool ops_are_recorded() {
  const AutogradState& state = autograd_state();
  return state.grad_mode && !state.inference_mode;
}

/// Returns true when ops compute tangents: a forward-mode level is open, outside inference mode.
inline bool ops_carry_tangents() {
  const AutogradState& state = autograd_state();
  return state.dual_level != nullptr && !state.inference_mode;
}

/// Returns true when a computation may be differentiated, in either mode, and must therefore
/// consist of ops. Otherwise it may take shortcuts that produce the same values.
inline bool ops_are_differentiated() { return ops_are_recorded() || ops_carry_tangents(); }

/// Returns false when backward calls of this thread run all their nodes on this thread, including
/// those of other devices.
inline bool is_multithreading_enabled() { return autograd_state().multithreading; }
inline void set_multithreading_enabled(bool enabled) { autograd_state().multithreading = enabled; }

/// Replaces the whole autograd state for a scope.
class AutogradStateGuard {
 public:
  explicit AutogradStateGuard(const AutogradState& state) : previous_(autograd_state()) {
    autograd_state() = state;
  }
  ~AutogradStateGuard() { autograd_state() = previous_; }
  AutogradStateGuard(const AutogradStateGuard&) = delete;
  AutogradStateGuard& operator=(const AutogradStateGuard&) = delete;

 private:
  AutogradState previous_;
};

/// Sets the grad mode for a scope.
class GradModeGuard {
 public:
  explicit GradModeGuard(bool enabled) : previous_(autograd_state().grad_mode) {
    autograd_state().grad_mode = enabled;
  }
  ~GradModeGuard() { autograd_state().grad_mode = previous_; }
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 private:
  bool previous_;
};

struct NoGradGuard : GradModeGuard {
  NoGradGuard() : GradModeGuard(false) {}
};
struct EnableGradGuard : GradModeGuard {
  EnableGradGuard() : GradModeGuard(true) {}
};

/// Enables inference mode for a scope; with `false` inside one, restores normal mode with grad mode
/// on.
class InferenceModeGuard {
 public:
  explicit InferenceModeGuard(bool enabled = true)
      : grad_mode_(autograd_state().grad_mode), inference_mode_(autograd_state().inference_mode) {
    set(!enabled, enabled);
  }
  // Restores only these two modes: in JavaScript, scopes that began inside this one may end after
  // it.
  ~InferenceModeGuard() { set(grad_mode_, inference_mode_); }
  InferenceModeGuard(const InferenceModeGuard&) = delete;
  InferenceModeGuard& operator=(const InferenceModeGuard&) = delete;

 private:
  static void set(bool grad_mode, bool inference_mode) {
    AutogradState& state = autograd_state();
    state.grad_mode = grad_mode;
    state.inference_mode = inference_mode;
  }

  bool grad_mode_;
  bool inference_mode_;
};

}  // namespace eg
