#pragma once

// Which ops are recorded. Grad mode is the ordinary switch. Inference mode goes further: results
// have no version counter and can never take part in a graph, views are not tracked, and nothing is
// recorded whatever grad mode says. Both are per thread and changed by guards, which restore what
// they found, also when the scope is left by an exception.

#include "tensor/autograd_state.h"

namespace eg {

/// The switch of grad mode alone; see ops_are_recorded for what follows from it.
inline bool is_grad_enabled() { return autograd_state().grad_mode; }

inline bool is_inference_mode_enabled() { return autograd_state().inference_mode; }

/// True when operations on tensors that require a gradient are recorded.
inline bool ops_are_recorded() {
  const AutogradState& state = autograd_state();
  return state.grad_mode && !state.inference_mode;
}

/// True when a forward-mode level is open, so that ops carry tangents along; not in inference mode.
inline bool ops_carry_tangents() {
  const AutogradState& state = autograd_state();
  return state.dual_level != nullptr && !state.inference_mode;
}

/// True when a computation may be differentiated, in either mode, and must therefore consist of
/// ops; otherwise it may take shortcuts that produce the same values.
inline bool ops_are_differentiated() { return ops_are_recorded() || ops_carry_tangents(); }

/// False when backward calls of this thread run all their nodes on it, also those of other devices.
inline bool is_multithreading_enabled() { return autograd_state().multithreading; }
inline void set_multithreading_enabled(bool enabled) { autograd_state().multithreading = enabled; }

/// Installs a whole autograd state for a scope.
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

/// Turns inference mode on for a scope, or, inside one, back to the normal mode, with grad mode on.
class InferenceModeGuard {
 public:
  explicit InferenceModeGuard(bool enabled = true)
      : grad_mode_(autograd_state().grad_mode), inference_mode_(autograd_state().inference_mode) {
    set(!enabled, enabled);
  }
  // Not the whole state: a scope of JavaScript may end while others go on that began inside it.
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
