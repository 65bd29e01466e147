#include "base/warning.h"

#include <cstdio>
#include <utility>

namespace eg {
namespace {

void print_to_standard_error(const std::string& message) {
  std::fputs(("Warning: " + message + "\n").c_str(), stderr);
}

std::atomic<WarningHandler> current_handler{&print_to_standard_error};
std::atomic<bool> warn_always{false};
thread_local WarningCollector* current_collector = nullptr;

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) {
  return current_handler.exchange(handler == nullptr ? &print_to_standard_error : handler);
}

void emit_warning(const std::string& message) {
  if (current_collector != nullptr) {
    current_collector->add(message);
  } else {
    current_handler.load()(message);
  }
}

bool WarnOnce::first() { return !done_.exchange(true) || warn_always.load(); }

bool set_warn_always(bool value) { return warn_always.exchange(value); }

void WarningCollector::add(const std::string& message) {
  const std::scoped_lock lock(mutex_);
  messages_.push_back(message);
}

void WarningCollector::replay() {
  std::vector<std::string> messages;
  {
    const std::scoped_lock lock(mutex_);
    messages.swap(messages_);
  }
  for (const std::string& message : messages) emit_warning(message);
}

WarningCollectorGuard::WarningCollectorGuard(WarningCollector* collector)
    : previous_(std::exchange(current_collector, collector)) {}

WarningCollectorGuard::~WarningCollectorGuard() { current_collector = previous_; }

}  // namespace eg
