#include "runtime/device.h"

#include <atomic>

#include "base/error.h"

namespace eg {
namespace {
std::atomic<Device> default_for_factories{};
}

Device default_device() { return default_for_factories.load(std::memory_order_relaxed); }
void set_default_device(Device device) {
  default_for_factories.store(device, std::memory_order_relaxed);
}

void fail_device_mismatch(std::string_view op, Device one, Device other) {
  fail(ErrorCode::kDeviceMismatch, '[', op, "] expected all tensors on one device, got ", one,
       " and ", other, ". Move one with .to('", one.is_cpu() ? other : one, "').");
}

}  // namespace eg
