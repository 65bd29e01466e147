#pragma once

// The role of a thread in the engine. Private to the engine: other code uses EngineContext
// (engine_context.h).

#include <chrono>
#include <memory>
#include <utility>

#include "autograd/engine/graph_task.h"
#include "autograd/engine/ready_queue.h"

namespace eg {

class LocalReadyHeap;

/// The piecewise call whose piece a thread is running, and the end of that piece.
struct Piece {
  const GraphTask* task;
  std::chrono::steady_clock::time_point deadline;

  bool is_over() const { return std::chrono::steady_clock::now() >= deadline; }
};

struct ThreadRole {
  int device = kNoDevice;
  int depth = 0;        ///< calls around the running one, on all threads
  int stack_depth = 0;  ///< those of them on this thread's stack
  /// A shutdown was popped from the queue: the thread ends when its running calls have ended.
  bool shutdown_requested = false;
  /// Ready nodes that this thread runs without the queue, or null.
  LocalReadyHeap* ready = nullptr;
  const Piece* piece = nullptr;
  std::shared_ptr<ReadyQueue> queue;

  /// The role of the same thread in a call within the running one.
  ThreadRole nested(int device_of_call, int depth_of_call, int depth_of_stack) const {
    ThreadRole next = *this;
    next.device = device_of_call;
    next.depth = depth_of_call;
    next.stack_depth = depth_of_stack;
    return next;
  }
  /// The same role, adding ready nodes to another heap.
  ThreadRole with_ready(LocalReadyHeap& heap) const {
    ThreadRole next = *this;
    next.ready = &heap;
    return next;
  }
};

/// The role of the current thread.
inline constinit thread_local ThreadRole role;

/// Gives this thread another role for a scope.
class RoleScope {
 public:
  explicit RoleScope(ThreadRole next) : previous_(std::exchange(role, std::move(next))) {}
  ~RoleScope() {
    // A shutdown that was popped in the scope is meant for the thread that owns the queue.
    if (role.shutdown_requested) {
      if (role.queue == previous_.queue)
        previous_.shutdown_requested = true;
      else
        role.queue->push_shutdown();
    }
    role = std::move(previous_);
  }
  RoleScope(const RoleScope&) = delete;
  RoleScope& operator=(const RoleScope&) = delete;

 private:
  ThreadRole previous_;
};

}  // namespace eg
