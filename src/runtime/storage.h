#pragma once

// A block of device memory that views share. It knows nothing of shapes or element types, and
// counts the changes of its contents for those who know of them.

#include <cstddef>
#include <cstdint>

#include "base/intrusive_ptr.h"
#include "base/pool.h"
#include "base/sharing.h"
#include "runtime/device.h"

namespace eg {

class Storage final : public RefCounted, public Pooled {
 public:
  /// Allocates uninitialised memory; throws OutOfMemory.
  Storage(std::size_t bytes, Device device);
  ~Storage();

  /// Its address on the CPU; elsewhere what the device knows the block by.
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  /// How often the contents were changed in place.
  SharedCount<std::uint32_t>& version() { return version_; }

  static void on_last_release(Storage* storage) { delete storage; }
  /// Storages alive now.
  static std::int64_t live_count();

 private:
  void* data_;
  std::size_t bytes_;
  Device device_;
  SharedCount<std::uint32_t> version_;
};

}  // namespace eg
