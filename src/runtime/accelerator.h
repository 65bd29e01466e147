#pragma once

// A device other than the CPU. It has its own memory, which the host cannot access, and a queue of
// kernel calls and copies, which take effect in the order in which they were made on any thread.
// The code that provides such a device (backend/webgpu, the tests) registers it.
//
// All functions are thread-safe.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/dtype.h"
#include "runtime/device.h"
#include "runtime/lock_rank.h"

namespace eg {

namespace kernel {
class Call;
}

class Accelerator {
 public:
  virtual ~Accelerator() = default;

  /// Whether it has float64 and complex128.
  virtual bool has_float64() const { return true; }
  /// Whether the device draws random numbers itself (kernels/random.h), which are other numbers
  /// than the CPU's.
  virtual bool draws() const { return false; }

  /// Allocates a block of uninitialized device memory; throws OutOfMemory. The returned address
  /// identifies the block and must never be dereferenced.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Frees a block. Calls made before may still use it. Does not wait for the lock of other
  /// callers (lock()), because tensors are also released by the thread that answers reads.
  virtual void free(void* block) = 0;
  virtual std::size_t bytes(void* block) = 0;

  /// Tells that the content of a block does not matter any more, as after allocate().
  virtual void renew(void* /*block*/) {}

  /// Copies from host memory to the block; `from` may be reused afterwards.
  virtual void write(void* block, std::size_t offset, const void* from, std::size_t bytes) = 0;
  /// Waits for all earlier calls, then copies from the block to host memory.
  virtual void read(void* block, std::size_t offset, void* to, std::size_t bytes) = 0;

  /// Calls a kernel. Returns false without doing anything if the device does not support the call.
  virtual bool run(const kernel::Call& call) = 0;

  /// Records the calls up to end_recording() and returns the number of the recording; 0 if the
  /// device does not support that. The caller must hold the lock until the end.
  virtual std::uint32_t begin_recording() { return 0; }
  virtual void end_recording() {}
  /// Repeats the recorded calls, with less overhead than making them again.
  virtual void play(std::uint32_t /*recording*/) {}
  virtual void forget(std::uint32_t /*recording*/) {}

  /// Records the device's time in one of kMaxStamps slots when it reaches this point of the queue.
  /// Returns false if the device has no clock.
  virtual bool stamp(std::uint32_t /*slot*/) { return false; }
  /// Waits for the first `count` timestamps and returns them in nanoseconds; empty if this thread
  /// must not wait.
  virtual std::vector<std::uint64_t> stamps(std::uint32_t /*count*/) { return {}; }
  static constexpr std::uint32_t kMaxStamps = 4096;

  /// Keeps other threads from making calls, for several calls that belong together
  /// (std::lock_guard). Recursive. May be held while waiting for the device (lock_rank.h).
  void lock() { order_.lock(); }
  void unlock() { order_.unlock(); }

 private:
  RankedMutex<LockRank::kDeviceOrder, std::recursive_mutex> order_;
};

/// Registers a device type's accelerator, which must outlive its tensors; null unregisters it.
void register_accelerator(DeviceType type, Accelerator* accelerator);
/// Sets a function that is called when an unregistered device of this type is used: it registers
/// the device or throws.
void set_accelerator_opener(DeviceType type, void (*open)());
/// Throws DtypeMismatch if the device does not support the dtype.
void check_has_dtype(Device device, DType dtype);
/// Returns the device's accelerator; throws DeviceUnavailable if there is none.
Accelerator& accelerator(Device device);

}  // namespace eg
