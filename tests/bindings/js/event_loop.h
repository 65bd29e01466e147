#pragma once

// The event loop of a thread, which runs the tasks that other threads post, one after the other.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace eg::testing::js {

class EventLoop {
 public:
  /// Queues `task` to run on the loop's thread. Returns false if the loop has ended.
  bool post(std::function<void()> task);

  /// Runs tasks until `done()` returns true after one of them; if no task arrives for long, the
  /// test fails. Must be called on the loop's thread.
  void run_until(const std::function<bool()>& done);
  /// Runs the pending tasks. Must be called on the loop's thread.
  void run_pending();
  /// Runs tasks until end().
  void run();

  /// Ends the loop; no task runs afterwards.
  void end();

 private:
  /// Returns the next task, or null if the loop has ended or no task arrived in time.
  std::function<void()> next(std::chrono::seconds most_waiting);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool has_ended_ = false;
};

}  // namespace eg::testing::js
