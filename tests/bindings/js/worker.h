#pragma once

// An engine worker, as eg.spawn() has them: a thread that the bindings start and that runs nothing
// but its event loop.

#include <functional>
#include <memory>

#include "js/event_loop.h"

namespace eg::testing::js {

class Worker {
 public:
  Worker();
  /// Ends it in good order and waits until it is gone.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Has the worker run a job after those it has.
  void run(std::function<void()> job);
  /// Waits until it has run all it was given; this thread's event loop goes on meanwhile.
  void wait();
  /// The number of its thread.
  double thread() const { return thread_; }
  /// Ends it as terminate() does: it says nothing, and the main thread tells the engine.
  void die();

  /// For the worker's own thread: its event loop begins, and is over.
  static void started();
  static void over();

 private:
  struct Shared;

  void end();

  double thread_ = 0;
  std::shared_ptr<Shared> shared_;
};

}  // namespace eg::testing::js
