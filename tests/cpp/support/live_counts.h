#pragma once

// The numbers of nodes, tensors and storages that exist. A device thread releases what it ran last
// only after the call has ended, so if tests run on a device, its thread is stopped first. Must not
// be called from within a backward call, which would then never end.

#include <cstdint>

#include "autograd/engine/engine.h"
#include "autograd/engine/graph_task.h"
#include "autograd/graph/node.h"
#include "runtime/device.h"
#include "tensor/tensor.h"

namespace eg::testing {

inline void settle() {
  const bool is_in_a_call = GraphTask::current() != nullptr;
  if (!default_device().is_cpu() && !is_in_a_call) Engine::instance().stop();
}

inline std::int64_t live_nodes() {
  settle();
  return Node::live_count();
}
inline std::int64_t live_tensors() {
  settle();
  return TensorImpl::live_count();
}
inline std::int64_t live_storages() {
  settle();
  return Storage::live_count();
}

}  // namespace eg::testing
