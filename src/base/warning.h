#pragma once

// Messages for people that are not errors. They go to one process-wide handler (standard error
// until bindings install theirs); a thread that may not print collects its messages instead, for
// somebody else to pass on.

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"

namespace eg {

using WarningHandler = void (*)(const std::string& message);

/// Sets where warnings go; null restores standard error. Returns the handler before.
WarningHandler set_warning_handler(WarningHandler handler);

/// Reports a message to the handler, or to this thread's collector when it has one.
void emit_warning(const std::string& message);

/// Reports the joined parts.
template <class... Parts>
[[gnu::cold, gnu::noinline]] void warn(const Parts&... parts) {
  emit_warning(join_text(parts...));
}

/// Reports its first message only, unless set_warn_always(true).
class WarnOnce {
 public:
  template <class... Parts>
  void warn(const Parts&... parts) {
    if (first()) emit_warning(join_text(parts...));
  }

 private:
  bool first();

  std::atomic<bool> done_{false};
};

/// Makes every WarnOnce report each time; returns what was set before.
bool set_warn_always(bool value);

/// Messages kept until somebody replays them; several threads may add at once.
class WarningCollector {
 public:
  void add(const std::string& message);
  /// Reports all messages, in the order they came, and forgets them.
  void replay();

 private:
  std::mutex mutex_;
  std::vector<std::string> messages_;
};

/// Sends the warnings of this thread to a collector for a scope; null means to the handler.
class WarningCollectorGuard {
 public:
  explicit WarningCollectorGuard(WarningCollector* collector);
  ~WarningCollectorGuard();
  WarningCollectorGuard(const WarningCollectorGuard&) = delete;
  WarningCollectorGuard& operator=(const WarningCollectorGuard&) = delete;

 private:
  WarningCollector* previous_;
};

}  // namespace eg
