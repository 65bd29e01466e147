#pragma once

// A recorded sequence of kernel calls that can be replayed: the implementation of `eg.capture`.
//
// A training step makes some thousand kernel calls. Determining them requires graphs, shapes,
// handles and JavaScript, but the calls themselves are plain data (call.h). So the calls are
// recorded together with their memory, which keeps its address (runtime/recording.h), and replayed
// in a loop that handles nothing but calls. On the CPU, a replayed call computes; on a device, it
// appends to the device's stream.
//
//   CapturedStep step;
//   {
//     const RecordingGuard recorded(&step);
//     ...                                  // runs as usual
//   }
//   step.finish();
//   step.play();                           // repeats the calls on the current values
//
// Some work differs from step to step: a learning rate, for example, is computed on the host. Such
// work is *live*: instead of being recorded, it is called again at its position in the sequence.

#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/call.h"
#include "runtime/recording.h"

namespace eg {
class Accelerator;
}

namespace eg::kernel {

class CapturedStep final : public Recording {
 public:
  ~CapturedStep() override;

  void note(const Call& call) override;
  void note_write(void* block, Device device, const void* from, std::size_t bytes) override;
  void note_left(void* block, Device device) override;
  void note_live(std::function<void()> work) override;
  /// Ends the recording.
  void finish();

  /// Replays the step. Throws whatever a call throws, for instance for an index out of range.
  void play();

 private:
  enum class Kind : std::uint8_t { kCall, kCallOffCpu, kSegment, kWrite, kLive };
  struct Entry {
    Kind kind;
    std::size_t index;  // in the list of this kind
  };
  struct Write {
    void* block;
    Device device;
    std::vector<std::byte> bytes;
  };
  // Consecutive calls that a device has recorded.
  struct Segment {
    Accelerator* device;
    std::uint32_t number;
  };

  void add_write(void* block, Device device, const void* from, std::size_t bytes);
  void add_if_touched(void* base, Device device);
  bool is_settled(const Entry& entry);
  void play(const Entry& entry);
  void play_first_time();
  std::size_t play_segment(std::size_t first, std::vector<Entry>& merged);
  void forget_segments();

  std::mutex mutex_;  // device threads record on behalf of the thread that calls backward
  std::vector<Entry> entries_;
  std::vector<OwnedCall> calls_;
  std::vector<Write> writes_;
  std::vector<std::function<void()>> live_;
  std::vector<Segment> segments_;
  // What a replay computes anew, in the memory of devices.
  std::vector<std::pair<Accelerator*, void*>> renewed_;
  bool has_played_ = false;
};

}  // namespace eg::kernel
