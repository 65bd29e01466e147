#include "runtime/storage.h"

#include <atomic>

#include "runtime/accelerator.h"
#include "runtime/memory.h"
#include "runtime/recording.h"

namespace eg {
namespace {
std::atomic<std::int64_t> live_storages{0};
}

Storage::Storage(std::size_t bytes, Device device) : bytes_(bytes), device_(device) {
  if (Recording* const own = recording()) [[unlikely]]
    data_ = own->allocate(bytes, device);
  else
    data_ = device.is_cpu() ? allocate_bytes(bytes) : accelerator(device).allocate(bytes);
  live_storages.fetch_add(1, std::memory_order_relaxed);
}

Storage::~Storage() {
  live_storages.fetch_sub(1, std::memory_order_relaxed);
  if (any_recorded() && keep_recorded(data_, bytes_, device_)) [[unlikely]]
    return;
  if (device_.is_cpu())
    free_bytes(data_, bytes_);
  else
    accelerator(device_).free(data_);
}

std::int64_t Storage::live_count() { return live_storages.load(std::memory_order_relaxed); }

}  // namespace eg
