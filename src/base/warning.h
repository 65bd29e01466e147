#pragma once

// Messages to the user that are not errors. They go to one process-wide handler (standard error
// until the bindings install theirs). A thread that must not print collects its messages instead,
// and another thread replays them.

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"

namespace eg {

using WarningHandler = void (*)(const std::string& message);

/// Sets the warning handler; null restores standard error. Returns the previous handler.
WarningHandler set_warning_handler(WarningHandler handler);

/// Reports a message to the handler, or to this thread's collector when it has one.
void emit_warning(const std::string& message);

/// Reports the concatenated parts.
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

/// Makes every WarnOnce report each time; returns the previous setting.
bool set_warn_always(bool value);

/// Stores messages until replay(). add() is thread-safe.
class WarningCollector {
 public:
  void add(const std::string& message);
  /// Reports all messages in the order they were added, and clears them.
  void replay();

 private:
  std::mutex mutex_;
  std::vector<std::string> messages_;
};

/// Redirects this thread's warnings to a collector for a scope; null means the handler.
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
