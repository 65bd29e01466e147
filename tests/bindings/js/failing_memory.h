#pragma once

// Allocations that fail, natively: `new` and malloc of this program (failing_memory.cpp). Only the
// engine's allocations count: on a thread with JavaScript those in calls from JavaScript, on any
// other thread all.

#include <atomic>
#include <cstdint>
#include <utility>

namespace eg::testing::js {

/// What a thread runs; kDefault is JavaScript on a thread that has a realm, and else the engine.
enum class Running { kDefault, kEngine, kJavaScript };

/// Says what this thread runs in a scope.
class RunningScope {
 public:
  explicit RunningScope(Running what) : before_(std::exchange(running, what)) {}
  ~RunningScope() { running = before_; }
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;

  static Running now() { return running; }

 private:
  inline static constinit thread_local Running running = Running::kDefault;
  Running before_;
};

/// Makes allocations fail in a scope.
class FailingMemory {
 public:
  enum class Threads { kOfJavaScript, kOfEngine, kAll };
  enum class Length { kOnce, kForGood };

  /// The first `successes` allocations succeed, and the next one fails, or all from there on.
  FailingMemory(std::int64_t successes, Threads threads, Length length);
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;

  /// True if an allocation has failed.
  static bool has_failed();
};

}  // namespace eg::testing::js
