#pragma once

// Rarely used parts of a node, behind one pointer, so that an ordinary node does not pay for them.

#include <memory>

#include "autograd/anomaly_mode.h"
#include "autograd/hooks/hooks.h"

namespace eg {

struct NodeExtras {
  HookList<TensorPreHook> tensor_pre_hooks;
  HookList<TensorPreHook> retains_grad_hooks;
  HookList<NodePreHook> pre_hooks;
  HookList<NodePostHook> post_hooks;
  std::unique_ptr<AnomalyMetadata> metadata;
  std::shared_ptr<void> user_data;
};

}  // namespace eg
