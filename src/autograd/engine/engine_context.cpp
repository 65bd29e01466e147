#include "autograd/engine/engine_context.h"

#include "autograd/engine/thread_role.h"

namespace eg {

EngineContext EngineContext::here() { return {role.device, role.depth, role.queue}; }

EngineContextGuard::EngineContextGuard(const EngineContext& context) {
  if (context.device < 0) return;
  role_ = std::make_unique<RoleScope>(ThreadRole{.device = context.device,
                                                 .depth = context.depth,
                                                 .stack_depth = role.stack_depth,
                                                 .queue = context.queue});
}

EngineContextGuard::~EngineContextGuard() = default;

}  // namespace eg
