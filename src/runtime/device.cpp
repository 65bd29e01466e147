#include "runtime/device.h"

#include <atomic>

#include "base/error.h"
#include "runtime/factory_device.h"

namespace eg {
namespace {
std::atomic<Device> default_for_factories{};
thread_local std::optional<Device> own_for_factories;
}  // namespace

Device default_device() {
  return own_for_factories.value_or(default_for_factories.load(std::memory_order_relaxed));
}
void use_factory_device(std::optional<Device> device) { own_for_factories = device; }
void set_default_device(Device device) {
  default_for_factories.store(device, std::memory_order_relaxed);
}

void fail_device_mismatch(std::string_view op, Device one, Device other) {
  fail(ErrorCode::kDeviceMismatch, '[', op, "] expected all tensors on one device, got ", one,
       " and ", other, ". Move one with .to('", one.is_cpu() ? other : one, "').");
}

}  // namespace eg
