#include "autograd/engine/stand_in.h"

#include "autograd/engine/thread_role.h"

namespace eg {

EnginePlace EnginePlace::here() { return {role.device, role.depth, role.queue}; }

StandInGuard::StandInGuard(const EnginePlace& place) {
  if (place.device < 0) return;
  role_ = std::make_unique<OtherRoleGuard>(ThreadRole{.device = place.device,
                                                      .depth = place.depth,
                                                      .stack_depth = role.stack_depth,
                                                      .queue = place.queue});
}

StandInGuard::~StandInGuard() = default;

}  // namespace eg
