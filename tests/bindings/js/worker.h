#pragma once

// An engine worker like those of eg.spawn(): a thread that the bindings start and that only runs
// its event loop.

#include <functional>
#include <memory>

#include "js/event_loop.h"

namespace eg::testing::js {

class Worker {
 public:
  Worker();
  /// Ends the worker normally and waits until it has ended.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Makes the worker run a job after its pending ones.
  void run(std::function<void()> job);
  /// Waits until the worker has run all its jobs; this thread's event loop runs in the meantime.
  void wait();
  /// The number of the worker's thread.
  double thread() const { return thread_; }
  /// Ends the worker like terminate(): it sends no message, and the main thread notifies the
  /// engine.
  void die();

  /// Called on the worker's own thread when its event loop starts and ends.
  static void started();
  static void over();

 private:
  struct Shared;

  void end();

  double thread_ = 0;
  std::shared_ptr<Shared> shared_;
};

}  // namespace eg::testing::js
