// compile: engine

#include "autograd/engine/ready_queue.h"

#include <algorithm>
#include <limits>

#include "base/parts.h"

namespace eg {
namespace {

// std::push_heap puts the largest first, so this returns true when `a` runs after `b`.
bool runs_after(const NodeTask& a, const NodeTask& b) {
  if (a.is_shutdown != b.is_shutdown) return b.is_shutdown;
  if ((a.fn == nullptr) != (b.fn == nullptr)) return b.fn == nullptr;
  if (a.reentrant_depth != b.reentrant_depth) return a.reentrant_depth < b.reentrant_depth;
  return a.sequence_nr < b.sequence_nr;
}

}  // namespace

NodeTask::NodeTask(const IntrusivePtr<GraphTask>& task, IntrusivePtr<Node> fn, InputBuffer inputs)
    : graph_task(task),
      fn(std::move(fn)),
      inputs(std::move(inputs)),
      reentrant_depth(task == nullptr ? std::numeric_limits<std::uint64_t>::max()
                                      : static_cast<std::uint64_t>(task->reentrant_depth)),
      sequence_nr(this->fn == nullptr ? 0 : this->fn->sequence_nr()) {}

NodeTask NodeTask::shutdown() {
  NodeTask task;
  task.is_shutdown = true;
  return task;
}

void ReadyQueue::push(NodeTask task) {
  SmallVector<std::shared_ptr<Inbox>, 2> waiting;
  {
    const std::scoped_lock lock(mutex_);
    if (const IntrusivePtr<GraphTask> owner = task.graph_task.lock()) ++owner->outstanding_tasks;
    heap_.push_back(std::move(task));
    std::push_heap(heap_.begin(), heap_.end(), runs_after);
    count_.store(heap_.size(), std::memory_order_relaxed);
    waiting.append(waiting_.begin(), waiting_.end());
  }
  for (const std::shared_ptr<Inbox>& inbox : waiting) inbox->wake();
}

void ReadyQueue::push_shutdown() { push(NodeTask::shutdown()); }

NodeTask ReadyQueue::pop() {
  NodeTask task;
  if (take(task)) {
    catch_up_with_parts();
    return task;
  }
  const std::shared_ptr<Inbox> inbox = Inbox::current();
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(inbox);
  }
  inbox->serve_until([&] { return take(task); });
  const std::scoped_lock lock(mutex_);
  waiting_.erase(std::ranges::find(waiting_, inbox));
  catch_up_with_parts();
  return task;
}

bool ReadyQueue::take(NodeTask& task) {
  const std::scoped_lock lock(mutex_);
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), runs_after);
  task = std::move(heap_.back());
  heap_.pop_back();
  count_.store(heap_.size(), std::memory_order_relaxed);
  return true;
}

bool ReadyQueue::empty() const {
  const std::scoped_lock lock(mutex_);
  return heap_.empty();
}

std::size_t ReadyQueue::size() const {
  const std::scoped_lock lock(mutex_);
  return heap_.size();
}

}  // namespace eg
