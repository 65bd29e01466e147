// The modes of a thread: what is recorded, and how.

#include <memory>
#include <vector>

#include <emscripten/bind.h>

#include "autograd/forward_ad.h"
#include "autograd/grad_mode.h"
#include "border.h"

namespace eg::bindings {
namespace {

// Scopes of JavaScript: its guards end in the opposite order of their beginnings.
std::vector<std::unique_ptr<InferenceModeGuard>>& inference_scopes() {
  static thread_local std::vector<std::unique_ptr<InferenceModeGuard>> scopes;
  return scopes;
}

bool grad_enabled() { return is_grad_enabled(); }
void set_grad_enabled(bool enabled) { autograd_state().grad_mode = enabled; }

bool inference_enabled() { return is_inference_mode_enabled(); }
void push_inference_mode(bool enabled) {
  inference_scopes().push_back(std::make_unique<InferenceModeGuard>(enabled));
}
void pop_inference_mode() { inference_scopes().pop_back(); }

double enter_level() {
  return guard([] {
    enter_dual_level();
    return 0;
  });
}

double exit_level() {
  return guard([] {
    exit_dual_level();
    return 0;
  });
}

double make_dual_tensor(Handle primal, Handle tangent) {
  return guard(
      [&] { return return_tensor(make_dual(handles().get(primal), handles().get(tangent))); });
}

// Writes primal and tangent; 0 for no tangent.
double unpack_dual_tensor(Handle handle) {
  return guard([&] {
    const DualTensor dual = unpack_dual(handles().get(handle));
    return return_tensors(TensorList{dual.primal, dual.tangent});
  });
}

}  // namespace

EMSCRIPTEN_BINDINGS(modes) {
  emscripten::function("isGradEnabled", &grad_enabled);
  emscripten::function("setGradEnabled", &set_grad_enabled);
  emscripten::function("isInferenceModeEnabled", &inference_enabled);
  emscripten::function("pushInferenceMode", &push_inference_mode);
  emscripten::function("popInferenceMode", &pop_inference_mode);
  emscripten::function("enterDualLevel", &enter_level);
  emscripten::function("exitDualLevel", &exit_level);
  emscripten::function("makeDual", &make_dual_tensor);
  emscripten::function("unpackDual", &unpack_dual_tensor);
}

}  // namespace eg::bindings
