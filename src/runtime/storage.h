#pragma once

// A block of device memory that views share. It has no shape or element type, and counts in-place
// changes of its contents for autograd.

#include <cstddef>
#include <cstdint>

#include "base/heap/pool.h"
#include "base/intrusive_ptr.h"
#include "base/sharing.h"
#include "runtime/device.h"

namespace eg {

class Storage final : public RefCounted, public Pooled {
 public:
  /// Allocates uninitialized memory; throws OutOfMemory.
  Storage(std::size_t bytes, Device device);
  ~Storage();

  /// The address on the CPU; on another device, the identifier of the block.
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  /// The number of in-place changes.
  SharedCount<std::uint32_t>& version() { return version_; }

  static void on_last_release(Storage* storage) { delete storage; }
  /// The number of existing storages.
  static std::int64_t live_count();

 private:
  void* data_;
  std::size_t bytes_;
  Device device_;
  SharedCount<std::uint32_t> version_;
};

}  // namespace eg
