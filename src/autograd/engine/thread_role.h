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
};

/// The role of the current thread.
inline constinit thread_local ThreadRole role;

/// Makes this thread run a nested call for a scope, with the same queue.
class NestedRoleGuard {
 public:
  NestedRoleGuard(int device, int depth, int stack_depth)
      : device_(std::exchange(role.device, device)),
        depth_(std::exchange(role.depth, depth)),
        stack_depth_(std::exchange(role.stack_depth, stack_depth)) {}
  ~NestedRoleGuard() {
    role.device = device_;
    role.depth = depth_;
    role.stack_depth = stack_depth_;
  }
  NestedRoleGuard(const NestedRoleGuard&) = delete;
  NestedRoleGuard& operator=(const NestedRoleGuard&) = delete;

 private:
  int device_;
  int depth_;
  int stack_depth_;
};

/// Gives this thread another role, with another thread's queue, for a scope.
class ThreadRoleGuard {
 public:
  explicit ThreadRoleGuard(ThreadRole other) : own_(std::exchange(role, std::move(other))) {}
  ~ThreadRoleGuard() {
    // The shutdown was meant for the thread that owns the queue.
    if (role.shutdown_requested) role.queue->push_shutdown();
    role = std::move(own_);
  }
  ThreadRoleGuard(const ThreadRoleGuard&) = delete;
  ThreadRoleGuard& operator=(const ThreadRoleGuard&) = delete;

 private:
  ThreadRole own_;
};

/// Makes a heap the one that new ready nodes are added to, for a scope.
class LocalReadyHeapGuard {
 public:
  explicit LocalReadyHeapGuard(LocalReadyHeap* ready)
      : previous_(std::exchange(role.ready, ready)) {}
  ~LocalReadyHeapGuard() { role.ready = previous_; }
  LocalReadyHeapGuard(const LocalReadyHeapGuard&) = delete;
  LocalReadyHeapGuard& operator=(const LocalReadyHeapGuard&) = delete;

 private:
  LocalReadyHeap* previous_;
};

}  // namespace eg
