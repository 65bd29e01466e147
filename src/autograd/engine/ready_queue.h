#pragma once

// Tasks that are ready to run. Every device has one queue and one thread that serves it. Every
// thread that calls backward has a queue for the CPU tasks of its own calls, and serves it while it
// waits. Order: shutdowns, then wake-ups without work, then tasks of more deeply nested calls, then
// newer nodes.

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
  /// Null for a wake-up that carries no work.
  IntrusivePtr<Node> fn;
  InputBuffer inputs;
  bool is_shutdown = false;
  /// Depth of the call; the maximum for a call that no longer exists, so that its tasks drain
  /// first.
  std::uint64_t reentrant_depth = 0;
  std::uint64_t sequence_nr = 0;

  NodeTask() = default;
  NodeTask(const IntrusivePtr<GraphTask>& task, IntrusivePtr<Node> fn, InputBuffer inputs);
  static NodeTask shutdown();
};

class ReadyQueue {
 public:
  /// Adds a task, counts it among the outstanding tasks of its call, and wakes the waiting threads.
  void push(NodeTask task);
  void push_shutdown();
  /// Waits for a task and removes the first one. Processes messages that only this thread can
  /// handle in the meantime, such as a hook that a device thread waits for (Inbox).
  NodeTask pop();
  bool empty() const;
  /// empty() without a lock: may miss concurrent changes.
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
