// Anomaly mode, and warnings.

#include <emscripten/val.h>

#include "autograd/anomaly_mode.h"
#include "base/warning.h"
#include "border.h"
#include "callbacks.h"
#include "words.h"

namespace eg::bindings {
namespace {

std::string capture_stack() {
  const emscripten::val capture = emscripten::val::module_property("captureStack");
  // The engine's own threads run no JavaScript, so they have no stack to show.
  const JavaScriptCall call;
  return capture.isUndefined() ? "" : capture().as<std::string>();
}

// The console may be replaced by the user and throw; the error then propagates from the call that
// caused the warning.
void show_warning(const std::string& message) {
  const auto thrown = [&] {
    const JavaScriptCall call;
    return emscripten::val::module_property("showWarning")(message).as<double>();
  }();
  if (thrown != 0) throw JsException(thrown);
}

}  // namespace

// Sets whether warnings are repeated; returns the previous setting.
EG_EXPORT("setWarnAlways")
bool set_always(bool enabled) { return set_warn_always(enabled); }

// Connects the module's functions for warnings and stacks.
EG_EXPORT("connectMessages")
void connect_messages() {
  set_warning_handler(&show_warning);
  set_stack_capture(&capture_stack);
}

EG_EXPORT("anomalyMode")
int anomaly_mode() {
  const NativeCall call(StackNeed::kNone);
  const AnomalySettings settings = AnomalyMode::settings();
  return (settings.enabled ? kAnomalyEnabled : 0) | (settings.check_nan ? kAnomalyCheckNan : 0);
}

EG_EXPORT("setAnomalyMode")
void set_anomaly_mode(int flags) {
  const NativeCall call(StackNeed::kNone);
  AnomalyMode::set_enabled((flags & kAnomalyEnabled) != 0, (flags & kAnomalyCheckNan) != 0);
}

}  // namespace eg::bindings
