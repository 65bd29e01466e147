#include "autograd/anomaly_mode.h"

#include "autograd/engine/engine.h"
#include "autograd/graph/node.h"
#include "autograd/tensor_math.h"
#include "base/warning.h"

namespace eg {
namespace {

std::atomic<StackCapture> stack_capture{nullptr};

void warn_trace(const Node& fn, const AnomalyMetadata* metadata, std::string_view before) {
  const std::string name = fn.name();
  if (metadata == nullptr || metadata->forward_stack.empty()) {
    warn(before, name, ". Its origin is unknown: run forward in detectAnomaly() too.");
    return;
  }
  warn(before, name, ". ", name, " was made here:\n", metadata->forward_stack);
}

}  // namespace

AnomalyMode::Relaxed<bool> AnomalyMode::enabled_{false};
AnomalyMode::Relaxed<bool> AnomalyMode::check_nan_{true};
AnomalyMode::Relaxed<int> AnomalyMode::calls_{0};
AnomalyMode::Relaxed<int> AnomalyMode::searching_calls_{0};

bool AnomalyMode::should_check_nan() {
  if (searching_calls_.load() > 0) return true;
  return check_nan_.load() && (enabled_.load() || calls_.load() == 0);
}

void AnomalyMode::set_enabled(bool enabled, bool check_nan) {
  enabled_.store(enabled);
  check_nan_.store(check_nan);
}

AnomalyCallGuard::AnomalyCallGuard(AnomalySettings settings) : settings_(settings) {
  if (!settings_.enabled) return;
  ++AnomalyMode::calls_;
  if (settings_.check_nan) ++AnomalyMode::searching_calls_;
}

AnomalyCallGuard::~AnomalyCallGuard() {
  if (!settings_.enabled) return;
  if (settings_.check_nan) --AnomalyMode::searching_calls_;
  --AnomalyMode::calls_;
}

AnomalyModeGuard::AnomalyModeGuard(bool enabled, bool check_nan)
    : before_(AnomalyMode::settings()) {
  AnomalyMode::set_enabled(enabled, check_nan);
}

AnomalyModeGuard::~AnomalyModeGuard() {
  AnomalyMode::set_enabled(before_.enabled, before_.check_nan);
}

StackCapture set_stack_capture(StackCapture capture) { return stack_capture.exchange(capture); }

AnomalyMetadata capture_anomaly_metadata() {
  const StackCapture capture = stack_capture.load();
  return {capture == nullptr ? std::string() : capture(), Engine::current_node()};
}

void warn_anomaly_trace(const Node& fn) {
  const AnomalyMetadata* metadata = fn.metadata();
  warn_trace(fn, metadata, "backward failed in ");
  while (metadata != nullptr && metadata->parent != nullptr) {
    const Node& parent = *metadata->parent;
    metadata = parent.metadata();
    warn_trace(parent, metadata, "that node was made by backward of ");
  }
}

void check_nan_outputs(const Node& fn, const GradList& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].defined() && math::has_nan(outputs[i])) {
      fail(ErrorCode::kAnomalyNan, fn.name(), " returned NaN in gradient ", i, '.');
    }
  }
}

}  // namespace eg
