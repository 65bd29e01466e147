#pragma once

// The modes of a thread for work that may run after the scopes they belong to have ended: a
// backward call that runs later, a function that another thread runs.

#include "autograd/forward_ad.h"
#include "autograd/hooks/saved_tensor_hooks.h"
#include "tensor/autograd_state.h"

namespace eg {

/// A copy of the state of the thread that makes it, with references to all that it names.
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
