#pragma once

// The event loop of a thread: what others post runs there, one after the other.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace eg::testing::js {

class EventLoop {
 public:
  /// Runs `task` on the loop's thread, some time. Returns false when the loop has ended.
  bool post(std::function<void()> task);

  /// Runs tasks until `done()`, which is asked after each; when nothing comes for long, the test
  /// fails. Only for the loop's thread.
  void run_until(const std::function<bool()>& done);
  /// Runs the tasks that are there. Only for the loop's thread.
  void run_pending();
  /// Runs tasks until end().
  void run();

  /// No task runs from now on.
  void end();

 private:
  /// The next task, or null when the loop has ended or nothing came.
  std::function<void()> next(std::chrono::seconds most_waiting);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool has_ended_ = false;
};

}  // namespace eg::testing::js
