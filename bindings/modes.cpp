// The modes of a thread: grad mode, inference mode, dtypes and forward-mode differentiation.

#include <memory>
#include <utility>
#include <vector>

#include "autograd/forward_ad.h"
#include "autograd/grad_mode.h"
#include "autograd/hooks/saved_tensor_hooks.h"
#include "border.h"
#include "dispatch/precision.h"
#include "terminated_thread.h"

namespace eg::bindings {
namespace {

// The inference mode scopes of JavaScript, which end in reverse order.
std::vector<std::unique_ptr<InferenceModeGuard>>& inference_scopes() {
  static thread_local std::vector<std::unique_ptr<InferenceModeGuard>> scopes;
  return scopes;
}

// The levels that hideDualLevel() has hidden, which come back in reverse order.
std::vector<std::unique_ptr<NoDualLevelGuard>>& hidden_levels() {
  static thread_local std::vector<std::unique_ptr<NoDualLevelGuard>> levels;
  return levels;
}

}  // namespace

void end_modes() {
  AutogradState& state = autograd_state();
  while (state.saved_tensor_hooks != nullptr) pop_saved_tensor_hooks();
  while (state.saved_tensor_hooks_disabled != nullptr) enable_saved_tensor_hooks();
  do {
    while (state.dual_level != nullptr) exit_dual_level();
    if (hidden_levels().empty()) return;
    hidden_levels().pop_back();
  } while (true);
}

EG_EXPORT("isGradEnabled")
bool grad_enabled() {
  const NativeCall call(StackNeed::kNone);
  return is_grad_enabled();
}

EG_EXPORT("setGradEnabled")
void set_grad_enabled(bool enabled) {
  const NativeCall call(StackNeed::kNone);
  autograd_state().grad_mode = enabled;
}

EG_EXPORT("isInferenceModeEnabled")
bool inference_enabled() {
  const NativeCall call(StackNeed::kNone);
  return is_inference_mode_enabled();
}

EG_EXPORT("pushInferenceMode")
double push_inference_mode(bool enabled) {
  return guard<StackNeed::kToEnd>([&] {
    inference_scopes().emplace_back();
    try {
      inference_scopes().back() = std::make_unique<InferenceModeGuard>(enabled);
    } catch (...) {
      inference_scopes().pop_back();
      throw;
    }
    return 0;
  });
}

EG_EXPORT("popInferenceMode")
void pop_inference_mode() {
  const NativeCall call(StackNeed::kNone);
  inference_scopes().pop_back();
}

// Returns the code of the default dtype.
EG_EXPORT("defaultDtype")
int default_dtype_code() {
  const NativeCall call(StackNeed::kNone);
  return static_cast<int>(default_dtype());
}

EG_EXPORT("setDefaultDtype")
void set_default_dtype(int dtype) {
  const NativeCall call(StackNeed::kNone);
  dtype_modes().of_floats = static_cast<DType>(dtype);
}

// Sets the dtype that autocast rounds to, float32 to disable it; returns the previous one.
EG_EXPORT("setAutocast")
int set_autocast(int dtype) {
  const NativeCall call(StackNeed::kNone);
  return static_cast<int>(std::exchange(autograd_state().autocast, static_cast<DType>(dtype)));
}

EG_EXPORT("enterDualLevel")
double enter_level() {
  return guard<StackNeed::kToEnd>([] {
    enter_dual_level();
    return 0;
  });
}

EG_EXPORT("exitDualLevel")
double exit_level() {
  return guard<StackNeed::kNone>([] {
    exit_dual_level();
    return 0;
  });
}

// Hides the dual level until showDualLevel(); such pairs can be nested.
EG_EXPORT("hideDualLevel")
double hide_level() {
  return guard<StackNeed::kToEnd>([] {
    hidden_levels().push_back(std::make_unique<NoDualLevelGuard>());
    return 0;
  });
}

EG_EXPORT("showDualLevel")
void show_level() {
  const NativeCall call(StackNeed::kNone);
  hidden_levels().pop_back();
}

EG_EXPORT("makeDual")
double make_dual_tensor(Handle primal, Handle tangent) {
  return guard(
      [&] { return return_tensor(make_dual(handles().get(primal), handles().get(tangent))); });
}

// Writes the primal and the tangent, or 0.
EG_EXPORT("unpackDual")
double unpack_dual_tensor(Handle handle) {
  return guard([&] {
    const DualTensor dual = unpack_dual(handles().get(handle));
    return return_tensors(TensorList{dual.primal, dual.tangent});
  });
}

}  // namespace eg::bindings
