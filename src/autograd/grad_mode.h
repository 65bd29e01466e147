#pragma once

// Whether operations are recorded: a thread-local switch, changed only by guards.

namespace eg {

/// The autograd state of a thread. A backward call takes a copy along to the threads it uses.
struct AutogradState {
  bool grad_mode = true;
};

AutogradState& autograd_state();

/// True when operations on tensors that require a gradient are recorded.
inline bool is_grad_enabled() { return autograd_state().grad_mode; }

/// Sets the grad mode for a scope and restores it, also when the scope is left by an exception.
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

}  // namespace eg
