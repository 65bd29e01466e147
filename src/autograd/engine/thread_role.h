#pragma once

// What a thread is to the engine. Of the engine's own files: others see a thread's place
// (stand_in.h).

#include <chrono>
#include <memory>
#include <utility>

#include "autograd/engine/graph_task.h"
#include "autograd/engine/ready_queue.h"

namespace eg {

class LocalWork;

/// The call that a thread runs a piece of, and until when.
struct Piece {
  const GraphTask* task;
  std::chrono::steady_clock::time_point deadline;

  bool is_over() const { return std::chrono::steady_clock::now() >= deadline; }
};

struct ThreadRole {
  int device = kNoDevice;
  int depth = 0;        ///< Calls around the running one, on whichever threads.
  int stack_depth = 0;  ///< Those of them on this thread.
  /// A shutdown was taken from the queue: the thread ends when no call of its own is running.
  bool shutdown_requested = false;
  /// The row of nodes this thread is running, or null.
  LocalWork* work = nullptr;
  const Piece* piece = nullptr;
  std::shared_ptr<ReadyQueue> queue;
};

/// That of this thread.
inline constinit thread_local ThreadRole role;

/// Makes this thread work at a call inside the one it is in, for a scope, with the same queue.
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

/// Gives this thread another role for a scope, with a queue that is not its own.
class OtherRoleGuard {
 public:
  explicit OtherRoleGuard(ThreadRole other) : own_(std::exchange(role, std::move(other))) {}
  ~OtherRoleGuard() {
    // Meant for the thread whose queue this is.
    if (role.shutdown_requested) role.queue->push_shutdown();
    role = std::move(own_);
  }
  OtherRoleGuard(const OtherRoleGuard&) = delete;
  OtherRoleGuard& operator=(const OtherRoleGuard&) = delete;

 private:
  ThreadRole own_;
};

/// Makes a row of nodes the one that new ready nodes join, for a scope.
class LocalWorkGuard {
 public:
  explicit LocalWorkGuard(LocalWork* work) : previous_(std::exchange(role.work, work)) {}
  ~LocalWorkGuard() { role.work = previous_; }
  LocalWorkGuard(const LocalWorkGuard&) = delete;
  LocalWorkGuard& operator=(const LocalWorkGuard&) = delete;

 private:
  LocalWork* previous_;
};

}  // namespace eg
