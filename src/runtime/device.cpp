#include "runtime/device.h"

#include <atomic>

namespace eg {
namespace {
std::atomic<Device> default_for_factories{};
}

Device default_device() { return default_for_factories.load(std::memory_order_relaxed); }
void set_default_device(Device device) {
  default_for_factories.store(device, std::memory_order_relaxed);
}

}  // namespace eg
