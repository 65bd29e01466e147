#pragma once

// Whether the operations of this thread are recorded, to be replayed later (recording.h says what
// that means). Kernels, storages and tensor values check it, so it is one plain variable per
// thread. Like the autograd modes, a backward call passes it to every thread that works on the
// call.

#include <string_view>
#include <utility>

#include "runtime/device.h"

namespace eg {

class Recording;

namespace detail {
inline constinit thread_local Recording* thread_recording = nullptr;
}  // namespace detail

/// The recording of this thread, or null.
inline Recording* recording() { return detail::thread_recording; }

/// Sets the recording of this thread, or none, for a scope.
class RecordingGuard {
 public:
  explicit RecordingGuard(Recording* recording)
      : previous_(std::exchange(detail::thread_recording, recording)) {}
  ~RecordingGuard() { detail::thread_recording = previous_; }
  RecordingGuard(const RecordingGuard&) = delete;
  RecordingGuard& operator=(const RecordingGuard&) = delete;

 private:
  Recording* previous_;
};

/// Throws InvalidArgument if this thread is being recorded, for an operation that cannot be
/// replayed. `advice` says what to do instead.
void refuse_in_recording(std::string_view what, std::string_view advice);

/// Called before the host reads or writes a block: throws if this thread is being recorded and the
/// values may differ at a replay.
void check_host_access(void* block, Device device);

}  // namespace eg
