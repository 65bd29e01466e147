#pragma once

// The modes of a thread: whether its ops are recorded, whether new tensors are tracked at all,
// which hooks store saved tensors, whether tangents are computed. Every op reads them, so they are
// one plain variable per thread, which only guards change (autograd/grad_mode.h and related
// headers). They are defined in this layer because a new tensor depends on the mode it is made in.
//
// A backward call copies the state to every thread that works on the call. The pointers are valid
// as long as the scopes they belong to; work that may run later holds references to their targets
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
  /// Whether backward calls may use device threads.
  bool multithreading = true;
  /// The innermost default hooks for saved tensors, or null.
  SavedTensorHooksFrame* saved_tensor_hooks = nullptr;
  /// The reason why default hooks are disabled, or null.
  DisabledSavedTensorHooks* saved_tensor_hooks_disabled = nullptr;
  /// The level that stores tangents while forward-mode differentiation is on, else null.
  ForwardAdLevel* dual_level = nullptr;
  /// The dtype that autocast converts to; float32 when autocast is off.
  DType autocast = DType::kFloat32;
};

namespace detail {
inline constinit thread_local AutogradState thread_autograd_state;
}  // namespace detail

/// The state of this thread.
inline AutogradState& autograd_state() { return detail::thread_autograd_state; }

}  // namespace eg
