#pragma once

// A thread that writes down what it does while it does it, so that it can be done again. What is
// written down is the business of whoever derives from Recording (kernels/captured_step.h). Here is
// what it means for memory, which has to be there, at the same address, as long as the recording:
//
//  - Blocks that are allocated while a thread records are the recording's own. One that is freed is
//    given out again, in the same recording only: done again, everything happens in the same order.
//  - Blocks that were there before and are used are kept: whoever frees one later frees nothing
//    until the last recording that uses it is gone.
//
// A value is *constant* when it is the same each time, because it was made of nothing but constants
// (`zeros`, `arange`, numbers of the host), and *variable* otherwise. The host may look at
// constants; looking at a variable would decide once what has to be decided each time, and is
// refused.

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
  /// Frees what nobody else needs.
  virtual ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Writes a call down, which is about to be made; throws for one that cannot be made again.
  virtual void note(const kernel::Call& call) = 0;
  /// The same for bytes of the host that are about to be written to the beginning of a block.
  virtual void note_write(void* block, Device device, const void* from, std::size_t bytes) = 0;
  /// The values of a block are left to others than the calls that are noted.
  virtual void note_left(void* block, Device device) = 0;
  /// Has `work` called, in its place and not recorded, each time this is played.
  virtual void note_live(std::function<void()> work) = 0;

  /// Uninitialised memory of a device, the recording's own.
  void* allocate(std::size_t bytes, Device device);
  /// False where the host may not look at or write to the memory of a block: it has a variable.
  bool allows_host_access(void* block, Device device);
  /// True for a block that was allocated in it.
  bool is_own(void* block, Device device);
  /// Throws where it cannot be right any more; see outdate_recordings().
  void check_not_outdated() const;

  /// What it knows of tensors, which are the business of autograd; set by whoever records.
  RecordedTensors* tensors = nullptr;

 protected:
  struct Block {
    std::size_t bytes = 0;
    bool is_own = false;
    /// No tensor lies there now.
    bool is_free = false;
    bool is_variable = false;
    bool was_ever_variable = false;
    /// The host may have written there since the last call.
    bool is_touched = false;
    /// How often it was written by what is noted.
    std::uint32_t writes = 0;
  };

  /// The block, which is kept from now on; for one of somebody else's, a variable.
  Block& use(void* block, Device device);
  void mark_written(Block& block, bool is_variable);
  /// What is freed from now on is given out no more.
  void stop_allocating();

 private:
  friend bool keep_recorded(void* block, std::size_t bytes, Device device);
  friend void outdate_recordings(void* block, Device device);

  void freed(void* block, Device device);

  std::atomic<bool> is_outdated_{false};

  using Blocks = std::unordered_map<void*, Block>;
  std::array<Blocks, kDeviceTypeCount> blocks_;
  struct Free {
    void* block;
    std::size_t bytes;
    Device device;
  };
  std::vector<Free> free_;
};

/// Another tensor takes the place of the one in this block: recordings that use the block would miss
/// it, and refuse to be played.
void outdate_recordings(void* block, Device device);
/// True for a block that was allocated in a recording, which will write to it each time.
bool is_of_recording(void* block, Device device);

/// Whether any recording keeps blocks: asked whenever one is freed.
bool any_recorded();
/// True when a recording keeps a block, which frees it later.
bool keep_recorded(void* block, std::size_t bytes, Device device);

}  // namespace eg
