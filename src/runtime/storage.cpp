// compile: engine

#include "runtime/storage.h"

#include "runtime/accelerator.h"
#include "runtime/memory.h"
#include "runtime/recording.h"

namespace eg {
namespace {
constinit SharedCount<std::int64_t> live_storages;
}

Storage::Storage(std::size_t bytes, Device device) : bytes_(bytes), device_(device) {
  if (Recording* const own = recording()) [[unlikely]]
    data_ = own->allocate(bytes, device);
  else
    data_ = device.is_cpu() ? allocate_bytes(bytes) : accelerator(device).allocate(bytes);
  live_storages.increment();
}

Storage::~Storage() {
  live_storages.add(-1);
  if (any_recorded() && keep_recorded(data_, bytes_, device_)) [[unlikely]]
    return;
  if (device_.is_cpu())
    free_bytes(data_, bytes_);
  else
    accelerator(device_).free(data_);
}

std::int64_t Storage::live_count() { return live_storages.load(); }

}  // namespace eg
