#pragma once

// A thread in the place of another one.
//
// A hook runs on the thread that registered it, while the thread whose node has the hook waits.
// When such a hook calls backward, nobody else would run the nodes in the waiting thread's queue:
// the thread of the hook does, as long as it stands in.

#include <memory>

#include "autograd/engine/graph_task.h"
#include "autograd/engine/ready_queue.h"

namespace eg {

class OtherRoleGuard;

/// Where a thread is in the engine, for one that runs user code in its place.
struct EnginePlace {
  int device = kNoDevice;
  int depth = 0;
  std::shared_ptr<ReadyQueue> queue;

  /// That of this thread.
  static EnginePlace here();
};

/// Puts this thread in the place of an accelerator's thread, for a scope. Changes nothing for the
/// place of any other thread, which goes on serving its own queue.
class StandInGuard {
 public:
  explicit StandInGuard(const EnginePlace& place);
  ~StandInGuard();
  StandInGuard(const StandInGuard&) = delete;
  StandInGuard& operator=(const StandInGuard&) = delete;

 private:
  std::unique_ptr<OtherRoleGuard> role_;
};

}  // namespace eg
