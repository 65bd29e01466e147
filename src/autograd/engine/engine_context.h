#pragma once

// Lets a thread act in the engine as another thread that waits for it.
//
// A hook runs on the thread that registered it, while the thread that runs the hook's node waits.
// If such a hook calls backward, the waiting device thread cannot run the nodes in its queue: the
// hook's thread runs them, as long as it has adopted the device thread's context.

#include <memory>

#include "autograd/engine/graph_task.h"
#include "autograd/engine/ready_queue.h"

namespace eg {

class RoleScope;

/// The state of a thread in the engine, for another thread that runs user code on its behalf.
struct EngineContext {
  int device = kNoDevice;
  int depth = 0;
  std::shared_ptr<ReadyQueue> queue;

  /// The context of the current thread.
  static EngineContext here();
};

/// Adopts the context of a device thread for a scope. Has no effect for a context of any other
/// thread, which keeps serving its own queue.
class EngineContextGuard {
 public:
  explicit EngineContextGuard(const EngineContext& context);
  ~EngineContextGuard();
  EngineContextGuard(const EngineContextGuard&) = delete;
  EngineContextGuard& operator=(const EngineContextGuard&) = delete;

 private:
  std::unique_ptr<RoleScope> role_;
};

}  // namespace eg
