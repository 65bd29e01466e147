#pragma once

// Work that can run now. Every device has one queue and one thread that serves it; every thread
// that calls backward has a queue for the CPU work of its own calls and serves it itself while it
// waits. What comes out first: a shutdown, then wake-ups without work, then tasks of a backward
// call nested more deeply, then the newest node.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "autograd/engine/graph_task.h"
#include "autograd/engine/input_buffer.h"
#include "autograd/graph/node.h"
#include "runtime/inbox.h"

namespace eg {

/// One node to run for one backward call.
struct NodeTask {
  /// Weak: a failed or abandoned call must not be kept alive by its queued work.
  WeakPtr<GraphTask> graph_task;
  /// Null for a wake-up that carries no work.
  IntrusivePtr<Node> fn;
  InputBuffer inputs;
  bool is_shutdown = false;
  /// Depth of the call; the largest number for a call that is gone, so that it drains first.
  std::uint64_t reentrant_depth = 0;
  std::uint64_t sequence_nr = 0;

  NodeTask() = default;
  NodeTask(const IntrusivePtr<GraphTask>& task, IntrusivePtr<Node> fn, InputBuffer inputs);
  static NodeTask shutdown();
};

class ReadyQueue {
 public:
  /// Adds a task and wakes who waits; counts it as outstanding work of its call unless told not to.
  void push(NodeTask task, bool increment_outstanding = true);
  void push_shutdown();
  /// Waits until there is a task and takes the first one. What only this thread can do, such as a
  /// hook that a device's thread waits for, it does meanwhile (its Inbox).
  NodeTask pop();
  bool empty() const;
  /// empty() without a lock: what another thread does at this moment may be missed.
  bool looks_empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  std::size_t size() const;

 private:
  bool take(NodeTask& task);

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Inbox>> waiting_;
  std::vector<NodeTask> heap_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace eg
