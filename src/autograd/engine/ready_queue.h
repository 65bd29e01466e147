#pragma once

// Tasks that are ready to run. Every device has one queue and one thread that serves it. Every
// thread that calls backward has a queue for the CPU tasks of its own calls, and serves it while it
// waits. Order: shutdowns, then wake-ups without work, then tasks of more deeply nested calls, then
// newer nodes.
//
// Only pushing a task needs memory. Shutdowns and wake-ups are counted, so that a call that has
// failed because memory is full still ends.

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
  /// Weak: queued tasks must not keep a failed or abandoned call alive.
  WeakPtr<GraphTask> graph_task;
  /// Null for a shutdown, or a wake-up that carries no work.
  IntrusivePtr<Node> fn;
  InputBuffer inputs;
  bool is_shutdown = false;
  /// Depth of the call; the maximum for a call that no longer exists, so that its tasks drain
  /// first.
  std::uint64_t reentrant_depth = 0;
  std::uint64_t sequence_nr = 0;

  NodeTask() = default;
  NodeTask(const IntrusivePtr<GraphTask>& task, IntrusivePtr<Node> fn, InputBuffer inputs);
};

class ReadyQueue {
 public:
  /// Adds a task, counts it among the outstanding tasks of its call, and wakes the waiting threads.
  void push(NodeTask task);
  void push_shutdown() { count_up(shutdowns_); }
  /// Makes one pop() return without work, so that the thread looks whether its call has ended.
  void push_wake_up() { count_up(wake_ups_); }
  /// Removes the tasks of a call that is abandoned before it has run.
  void drop_tasks_of(const GraphTask& task);
  /// Waits for a task and removes the first one. Processes messages that only this thread can
  /// handle in the meantime, such as a hook that a device thread waits for (Inbox).
  NodeTask pop();
  bool empty() const;
  /// empty() without a lock: may miss concurrent changes.
  bool looks_empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  std::size_t size() const;

 private:
  /// A thread that waits in pop().
  struct Waiting {
    Inbox* inbox;
    Waiting* next = nullptr;
  };

  bool take(NodeTask& task);
  void count_up(std::size_t& counter);
  void wake_waiting();
  std::size_t size_locked() const { return heap_.size() + shutdowns_ + wake_ups_; }

  mutable std::mutex mutex_;
  Waiting* waiting_ = nullptr;
  std::vector<NodeTask> heap_;
  std::size_t shutdowns_ = 0;
  std::size_t wake_ups_ = 0;
  std::atomic<std::size_t> count_{0};
};

}  // namespace eg
