#include "runtime/storage.h"

#include <atomic>

#include "base/error.h"
#include "runtime/memory.h"

namespace eg {
namespace {
std::atomic<std::int64_t> live_storages{0};
}

Storage::Storage(std::size_t bytes, Device device) : bytes_(bytes), device_(device) {
  if (device.type == DeviceType::kWebGpu) {
    fail(ErrorCode::kDeviceUnavailable, "no webgpu device: this build of edgegrad runs on 'cpu'.");
  }
  data_ = allocate_bytes(bytes);
  live_storages.fetch_add(1, std::memory_order_relaxed);
}

Storage::~Storage() {
  free_bytes(data_, bytes_);
  live_storages.fetch_sub(1, std::memory_order_relaxed);
}

std::int64_t Storage::live_count() { return live_storages.load(std::memory_order_relaxed); }

}  // namespace eg
