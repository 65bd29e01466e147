#include "runtime/accelerator.h"

#include <array>
#include <atomic>

#include "base/error.h"

namespace eg {
namespace {

std::array<std::atomic<Accelerator*>, kDeviceTypeCount> registered{};
std::array<std::atomic<void (*)()>, kDeviceTypeCount> openers{};

std::atomic<Accelerator*>& slot_of(DeviceType type) {
  return registered[static_cast<std::size_t>(type)];
}

}  // namespace

void register_accelerator(DeviceType type, Accelerator* accelerator) {
  slot_of(type).store(accelerator, std::memory_order_release);
}

void set_accelerator_opener(DeviceType type, void (*open)()) {
  openers[static_cast<std::size_t>(type)].store(open, std::memory_order_release);
}

void check_has_dtype(Device device, DType dtype) {
  const bool is_double = dtype == DType::kFloat64 || dtype == DType::kComplex128;
  if (!is_double || device.is_cpu() || accelerator(device).has_float64()) return;
  fail(ErrorCode::kDtypeMismatch, '\'', device, "' has no ", dtype, ": use ",
       is_complex(dtype) ? DType::kComplex64 : DType::kFloat32, '.');
}

Accelerator& accelerator(Device device) {
  Accelerator* found = slot_of(device.type).load(std::memory_order_acquire);
  const auto open = openers[static_cast<std::size_t>(device.type)].load(std::memory_order_acquire);
  if (found == nullptr && open != nullptr) {
    open();
    found = slot_of(device.type).load(std::memory_order_acquire);
  }
  if (found == nullptr) {
    fail(ErrorCode::kDeviceUnavailable, "no ", device, " device is available. Use 'cpu'.");
  }
  return *found;
}

}  // namespace eg
