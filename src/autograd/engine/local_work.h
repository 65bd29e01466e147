#pragma once

// The nodes of one backward call that a thread runs in a row.
//
// A node that becomes ready on the thread which will run it anyway need not pass through the queue:
// it waits here, newest first, and its gradients stay where they were collected. That spares the
// plain case, one thread and one call, all locks and counters. As soon as anything else waits in
// the thread's queue, the nodes here go there too, so that the order is the queue's.
//
// All nodes here count together as one outstanding task, the one that was popped when the row
// began.

#include <algorithm>
#include <vector>

#include "autograd/engine/graph_task.h"

namespace eg {

class LocalWork {
 public:
  explicit LocalWork(GraphTask* task) : task_(task) {}

  GraphTask* task() const { return task_; }
  bool empty() const { return ready_.empty(); }

  void push(NodeState& state) {
    ready_.push_back(&state);
    std::push_heap(ready_.begin(), ready_.end(), runs_after);
  }
  /// The newest node.
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
