#pragma once

#include <optional>

#include "runtime/device.h"

namespace eg {

/// Makes factories on this thread create tensors on another device than the default one, or on that
/// again: implements their option `device`.
void use_factory_device(std::optional<Device> device);

}  // namespace eg
