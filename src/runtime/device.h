#pragma once

// Where memory is and where nodes run. `kTest` is an accelerator that exists only in tests, with
// its own memory, queue and thread. In native builds it substitutes for WebGPU, so that kernel
// calls, device queues and graphs across devices are tested under sanitizers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace eg {

enum class DeviceType : std::uint8_t { kCpu, kWebGpu, kTest };
inline constexpr std::size_t kDeviceTypeCount = 3;

struct Device {
  DeviceType type = DeviceType::kCpu;
  std::int8_t index = 0;

  friend bool operator==(const Device&, const Device&) = default;
  bool is_cpu() const { return type == DeviceType::kCpu; }
};

/// The device on which factories (zeros, rand, arange ...) create tensors by default; initially the
/// CPU.
Device default_device();
void set_default_device(Device device);

[[noreturn]] void fail_device_mismatch(std::string_view op, Device one, Device other);

/// Throws DeviceMismatch with the name of the op unless both devices are equal.
inline void check_same_device(std::string_view op, Device one, Device other) {
  if (one != other) fail_device_mismatch(op, one, other);
}

constexpr std::string_view device_type_name(DeviceType type) {
  switch (type) {
    case DeviceType::kCpu:
      return "cpu";
    case DeviceType::kWebGpu:
      return "webgpu";
    case DeviceType::kTest:
      return "test";
  }
  return "unknown";
}

inline void append_text(std::string& out, Device device) {
  out += device_type_name(device.type);
  if (device.index != 0) out += ':' + std::to_string(static_cast<int>(device.index));
}

}  // namespace eg
