#pragma once

// Captures a thread's modes for work that may run after the scopes they belong to have ended: a
// backward call that runs later, or a function that another thread runs.

#include "autograd/forward_ad.h"
#include "autograd/hooks/saved_tensor_hooks.h"
#include "tensor/autograd_state.h"

namespace eg {

/// A copy of the current thread's state, with references to everything it points to.
class HeldModes {
 public:
  HeldModes()
      : state_(autograd_state()),
        hooks_(state_.saved_tensor_hooks),
        disabled_(state_.saved_tensor_hooks_disabled),
        level_(state_.dual_level) {}

  const AutogradState& state() const { return state_; }

 private:
  AutogradState state_;
  IntrusivePtr<SavedTensorHooksFrame> hooks_;
  IntrusivePtr<DisabledSavedTensorHooks> disabled_;
  IntrusivePtr<ForwardAdLevel> level_;
};

}  // namespace eg
