#pragma once

// What a thread has done with memory, to be done again: `eg.capture`.
//
// A step of training is some thousand calls of kernels. Finding out which takes graphs, shapes,
// handles and JavaScript; the calls themselves are plain data (call.h). So they are written down as
// they are made, with the memory that they were made with, which stays where it is
// (runtime/recording.h), and played again in a loop that knows nothing but calls. On the CPU that
// computes; on a device it appends to its stream.
//
//   CapturedStep step;
//   {
//     const RecordingGuard recorded(&step);
//     ...                                  // runs as always
//   }
//   step.finish();
//   step.play();                           // the same again, over the values that are there now
//
// Not everything is the same each time: a learning rate is a number of the host's. Such work is
// *live*: it is called in its place among the calls, and is not recorded.

#include <cstddef>
#include <functional>
#include <mutex>
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
  /// The recording is over.
  void finish();

  /// Does everything again; throws what a call throws, an index that is out of range for instance.
  void play();

 private:
  enum class Kind : std::uint8_t { kCall, kCallOffCpu, kSegment, kWrite, kLive };
  struct Entry {
    Kind kind;
    std::size_t index;  // in the list of its kind
  };
  struct Write {
    void* block;
    Device device;
    std::vector<std::byte> bytes;
  };
  // Calls in a row that a device keeps.
  struct Segment {
    Accelerator* device;
    std::uint32_t number;
  };

  void add_write(void* block, Device device, const void* from, std::size_t bytes);
  void add_what_was_touched(void* base, Device device);
  bool is_settled(const Entry& entry);
  void play(const Entry& entry);
  void play_first_time();
  std::size_t play_row(std::size_t first, std::vector<Entry>& shorter);
  void forget_segments();

  std::mutex mutex_;  // threads of devices record for the thread that calls backward
  std::vector<Entry> entries_;
  std::vector<OwnCall> calls_;
  std::vector<Write> writes_;
  std::vector<std::function<void()>> live_;
  std::vector<Segment> segments_;
  bool has_played_ = false;
};

}  // namespace eg::kernel
