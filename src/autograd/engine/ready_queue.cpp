// compile: engine

#include "autograd/engine/ready_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/parts.h"

namespace eg {
namespace {

// std::push_heap puts the largest first, so this returns true when `a` runs after `b`.
bool runs_after(const NodeTask& a, const NodeTask& b) {
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
      sequence_nr(this->fn->sequence_nr()) {}

void ReadyQueue::push(NodeTask task) {
  const std::scoped_lock lock(mutex_);
  heap_.push_back(std::move(task));
  if (const IntrusivePtr<GraphTask> owner = heap_.back().graph_task.lock())
    ++owner->outstanding_tasks;
  std::push_heap(heap_.begin(), heap_.end(), runs_after);
  wake_waiting();
}

void ReadyQueue::count_up(std::size_t& counter) {
  const std::scoped_lock lock(mutex_);
  ++counter;
  wake_waiting();
}

// With the lock held, because a thread that has stopped waiting takes its entry away.
void ReadyQueue::wake_waiting() {
  count_.store(size_locked(), std::memory_order_relaxed);
  for (const Waiting* waiting = waiting_; waiting != nullptr; waiting = waiting->next)
    waiting->inbox->wake();
}

void ReadyQueue::drop_tasks_of(const GraphTask& task) {
  for (;;) {
    NodeTask dropped;
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find_if(heap_, [&](const NodeTask& candidate) {
      return candidate.graph_task.lock().get() == &task;
    });
    if (found == heap_.end()) return;
    // Destroyed after the lock is released.
    dropped = std::move(*found);
    heap_.erase(found);
    std::make_heap(heap_.begin(), heap_.end(), runs_after);
    count_.store(size_locked(), std::memory_order_relaxed);
  }
}

NodeTask ReadyQueue::pop() {
  NodeTask task;
  if (take(task)) {
    catch_up_with_parts();
    return task;
  }
  const std::shared_ptr<Inbox> inbox = Inbox::current();
  Waiting own{inbox.get()};
  {
    const std::scoped_lock lock(mutex_);
    own.next = std::exchange(waiting_, &own);
  }
  inbox->serve_until([&] { return take(task); });
  const std::scoped_lock lock(mutex_);
  Waiting** entry = &waiting_;
  while (*entry != &own) entry = &(*entry)->next;
  *entry = own.next;
  catch_up_with_parts();
  return task;
}

bool ReadyQueue::take(NodeTask& task) {
  const std::scoped_lock lock(mutex_);
  if (size_locked() == 0) return false;
  if (shutdowns_ > 0) {
    --shutdowns_;
    task = NodeTask();
    task.is_shutdown = true;
  } else if (wake_ups_ > 0) {
    --wake_ups_;
    task = NodeTask();
  } else {
    std::pop_heap(heap_.begin(), heap_.end(), runs_after);
    task = std::move(heap_.back());
    heap_.pop_back();
  }
  count_.store(size_locked(), std::memory_order_relaxed);
  return true;
}

bool ReadyQueue::empty() const { return size() == 0; }

std::size_t ReadyQueue::size() const {
  const std::scoped_lock lock(mutex_);
  return size_locked();
}

}  // namespace eg
