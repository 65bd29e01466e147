#pragma once

// A recording of the operations of a thread, made while they run, so that they can be replayed.
// What is recorded is defined by the class derived from Recording (kernels/captured_step.h). This
// class manages memory, which must exist at the same address as long as the recording:
//
// - Blocks that are allocated while a thread records belong to the recording. A freed one is
//   reused, but only within the same recording: a replay does everything in the same order.
// - Blocks that existed before and are used are retained: freeing one later has no effect until the
//   last recording that uses it is destroyed.
//
// A value is *constant* if it is the same at each replay, because it was computed only from
// constants (`zeros`, `arange`, numbers of the host), and *variable* otherwise. The host may read
// constants. Reading a variable is refused: the host's decision would be made once instead of at
// each replay.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "runtime/recorded_thread.h"

namespace eg {

namespace kernel {
class Call;
}

class RecordedTensors;

class Recording {
 public:
  Recording();
  /// Frees the blocks that nothing else needs.
  virtual ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Records a call that is about to be made; throws for a call that cannot be replayed.
  virtual void note(const kernel::Call& call) = 0;
  /// Records bytes of the host that are about to be written to the beginning of a block.
  virtual void note_write(void* block, Device device, const void* from, std::size_t bytes) = 0;
  /// Notes that something other than the recorded calls will use the current values of a block.
  virtual void note_left(void* block, Device device) = 0;
  /// Makes every replay call `work` at this position, without recording it.
  virtual void note_live(std::function<void()> work) = 0;

  /// Allocates uninitialized device memory that belongs to the recording.
  void* allocate(std::size_t bytes, Device device);
  /// Returns false if the host must not read or write a block, because its value is variable.
  bool allows_host_access(void* block, Device device);
  /// Returns true for a block that was allocated in this recording.
  bool is_own(void* block, Device device);
  /// Throws if a replay would no longer be correct; see invalidate_recordings().
  void check_valid() const;

  /// The state of tensors, which autograd manages; set by the code that starts the recording.
  RecordedTensors* tensors = nullptr;

 protected:
  struct Block {
    std::size_t bytes = 0;
    bool is_own = false;
    /// No tensor uses the block now.
    bool is_free = false;
    bool is_variable = false;
    bool was_ever_variable = false;
    /// The host may have written to the block since the last call.
    bool is_touched = false;
    /// The number of recorded writes.
    std::uint32_t writes = 0;
  };

  /// Returns the entry of a block, which is retained from now on; a block of another owner is
  /// variable.
  Block& use(void* block, Device device);
  void mark_written(Block& block, bool is_variable);
  /// From now on, freed blocks are not reused.
  void stop_allocating();
  /// Calls `visit` for the blocks that belong to the recording and hold variable values.
  void for_each_variable(const std::function<void(void* block, Device device)>& visit) const;

 private:
  friend bool keep_recorded(void* block, std::size_t bytes, Device device);
  friend void invalidate_recordings(void* block, Device device);

  Block& add(void* block, Device device);
  void freed(void* block, Device device);

  std::atomic<bool> is_invalidated_{false};

  using Blocks = std::unordered_map<void*, Block>;
  std::array<Blocks, kDeviceTypeCount> blocks_;
  struct Free {
    void* block;
    std::size_t bytes;
    Device device;
  };
  std::vector<Free> free_;
  /// The number of blocks that belong to the recording.
  std::size_t own_blocks_ = 0;
};

/// Called when another tensor replaces the one in this block: recordings that use the block would
/// not use the new tensor, so they refuse to be replayed.
void invalidate_recordings(void* block, Device device);
/// Returns true for a block that was allocated in a recording, which every replay overwrites.
bool is_of_recording(void* block, Device device);

/// Returns true if any recording retains blocks; checked whenever a block is freed.
bool any_recorded();
/// Returns true if a recording retains the block and frees it later.
bool keep_recorded(void* block, std::size_t bytes, Device device);

}  // namespace eg
