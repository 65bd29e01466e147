#pragma once

// The ready nodes of one backward call that a thread runs without its queue.
//
// A node that becomes ready on the thread that will run it need not pass through the queue: it
// waits here, newest first, and its gradients stay in its input buffer. The common case of one
// thread and one call then needs no locks or counters. As soon as the thread's queue contains other
// tasks, the nodes are moved to the queue, which decides the order.
//
// All nodes here count as one outstanding task: the one that was popped from the queue first.

#include <algorithm>
#include <vector>

#include "autograd/engine/graph_task.h"

namespace eg {

class LocalReadyHeap {
 public:
  explicit LocalReadyHeap(GraphTask* task) : task_(task) {}

  GraphTask* task() const { return task_; }
  bool empty() const { return ready_.empty(); }

  void push(NodeState& state) {
    ready_.push_back(&state);
    std::push_heap(ready_.begin(), ready_.end(), runs_after);
  }
  /// Removes and returns the newest node.
  NodeState& pop() {
    std::pop_heap(ready_.begin(), ready_.end(), runs_after);
    NodeState& state = *ready_.back();
    ready_.pop_back();
    return state;
  }

 private:
  static bool runs_after(const NodeState* a, const NodeState* b) {
    return a->fn->sequence_nr() < b->fn->sequence_nr();
  }

  GraphTask* task_;
  std::vector<NodeState*> ready_;
};

}  // namespace eg
