#pragma once

// Threads for backward calls that are nested too deeply for one stack.
//
// A call handed over here runs on an idle thread, or on a new one when all are taken; the thread
// that made it waits for its completion, so there are never more threads at work than stacks in
// use. Threads are kept for the next time and never joined: they share the state of the pool, which
// therefore lives as long as the last of them.

#include <memory>

#include "autograd/graph_task.h"

namespace eg {

class ReentrantPool {
 public:
  using Run = void (*)(const IntrusivePtr<GraphTask>& task);

  explicit ReentrantPool(Run run);
  ~ReentrantPool();
  ReentrantPool(const ReentrantPool&) = delete;
  ReentrantPool& operator=(const ReentrantPool&) = delete;

  /// Makes a thread of the pool run `task`.
  void submit(const IntrusivePtr<GraphTask>& task);
  /// Threads started so far.
  int thread_count() const;

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
};

}  // namespace eg
