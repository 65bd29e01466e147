#pragma once

// A device that is not the CPU: memory of its own, which the host cannot look into, and a queue of
// kernel calls and copies that take effect in the order in which they were made, whatever thread
// made them. Whoever has such a device (backend/webgpu, the tests) registers it.
//
// Everything here may be called from any thread.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/dtype.h"
#include "runtime/device.h"

namespace eg {

namespace kernel {
class Call;
}

/// What a device can compute with.
struct DeviceTypes {
  /// float64, and complex numbers of two of them.
  bool has_float64 = true;
  /// float16 and bfloat16.
  bool has_half = true;
  /// All of int64; otherwise numbers of 32 bits in memory for 64.
  bool has_int64 = true;
};

class Accelerator {
 public:
  virtual ~Accelerator() = default;

  virtual DeviceTypes types() const { return {}; }

  /// A block of uninitialised memory, which is known by an address that is nobody's; throws
  /// OutOfMemory.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Calls that were made before may still use the block.
  virtual void free(void* block) = 0;
  virtual std::size_t bytes(void* block) = 0;

  /// Copies to the block. `from` is not needed afterwards.
  virtual void write(void* block, std::size_t offset, const void* from, std::size_t bytes) = 0;
  /// Waits for all that was called before, and copies from the block.
  virtual void read(void* block, std::size_t offset, void* to, std::size_t bytes) = 0;

  /// Calls a kernel; false, and nothing happens, when the device lacks it.
  virtual bool run(const kernel::Call& call) = 0;

  /// Keeps the calls from here to end_recording(), as they are made, under a number; 0 where the
  /// device cannot. Whoever begins holds the lock until the end.
  virtual std::uint32_t begin_recording() { return 0; }
  virtual void end_recording() {}
  /// Makes the calls that are kept again, with less ado.
  virtual void play(std::uint32_t /*recording*/) {}
  virtual void forget(std::uint32_t /*recording*/) {}

  /// Notes the device's own time, when it gets to this place among the calls, in one of
  /// kMaxStamps slots. False where it has no clock.
  virtual bool stamp(std::uint32_t /*slot*/) { return false; }
  /// The times in the first slots, in nanoseconds. Waits for them; none where this thread may not.
  virtual std::vector<std::uint64_t> stamps(std::uint32_t /*count*/) { return {}; }
  static constexpr std::uint32_t kMaxStamps = 4096;

  /// Keeps the calls of other threads out, for several that belong together (std::lock_guard). The
  /// same thread may do so again.
  void lock() { order_.lock(); }
  void unlock() { order_.unlock(); }

 private:
  std::recursive_mutex order_;
};

/// Makes a device of this type known; it has to outlive all that lies on it. Null takes it back.
void register_accelerator(DeviceType type, Accelerator* accelerator);
/// Has `open` called when a device of this type is used that is not known yet: it makes it known,
/// or throws.
void set_accelerator_opener(DeviceType type, void (*open)());
/// Throws DtypeMismatch where the device has no such numbers.
void check_has_dtype(Device device, DType dtype);
/// Throws DeviceUnavailable where there is none.
Accelerator& accelerator(Device device);

}  // namespace eg
