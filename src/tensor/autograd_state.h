#pragma once

// What a thread does with the ops it runs, besides computing: whether they are recorded, whether
// new tensors are tracked at all, who is asked to keep saved tensors, whether tangents are carried
// along. Every op reads it, so it is one plain variable per thread; guards alone change it
// (autograd/grad_mode.h and its neighbours). It lies in this layer because a new tensor needs to
// know the mode it is made in.
//
// A backward call takes a copy along to every thread that works for it. The pointers are good as
// long as the scopes they belong to; work that may run later holds what they point to
// (autograd/held_modes.h).

#include "base/dtype.h"

namespace eg {

struct SavedTensorHooksFrame;
struct DisabledSavedTensorHooks;
class ForwardAdLevel;

/// The autograd state of a thread.
struct AutogradState {
  bool grad_mode = true;
  bool inference_mode = false;
  /// Whether backward calls may use the threads of devices.
  bool multithreading = true;
  /// The innermost default hooks for saved tensors, or null.
  SavedTensorHooksFrame* saved_tensor_hooks = nullptr;
  /// Why default hooks may not be used now, or null.
  DisabledSavedTensorHooks* saved_tensor_hooks_disabled = nullptr;
  /// Where tangents live while forward-mode differentiation is on, else null.
  ForwardAdLevel* dual_level = nullptr;
  /// What autocast rounds to; float32 when it is off.
  DType autocast = DType::kFloat32;
};

namespace detail {
inline constinit thread_local AutogradState thread_autograd_state;
}  // namespace detail

/// The state of this thread.
inline AutogradState& autograd_state() { return detail::thread_autograd_state; }

}  // namespace eg
