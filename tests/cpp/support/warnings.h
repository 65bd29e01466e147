#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/warning.h"

namespace eg::testing {

/// Collects every warning given in a scope, also those that are normally given only once.
class WarningRecorder {
 public:
  WarningRecorder() : previous_(set_warning_handler(&record)), always_(set_warn_always(true)) {
    log().clear();
  }
  ~WarningRecorder() {
    set_warning_handler(previous_);
    set_warn_always(always_);
  }
  WarningRecorder(const WarningRecorder&) = delete;
  WarningRecorder& operator=(const WarningRecorder&) = delete;

  const std::vector<std::string>& messages() const { return log(); }

 private:
  static std::vector<std::string>& log() {
    static std::vector<std::string> messages;
    return messages;
  }
  static void record(const std::string& message) {
    static std::mutex mutex;
    const std::scoped_lock lock(mutex);
    log().push_back(message);
  }

  WarningHandler previous_;
  bool always_;
};

}  // namespace eg::testing
