#pragma once

// Whether what this thread does is written down, to be done again (recording.h has what that
// means). Kernels, storages and values of tensors ask, so it is one plain variable per thread; like
// the modes of autograd, a backward call takes it along to every thread that works for it.

#include <string_view>
#include <utility>

#include "runtime/device.h"

namespace eg {

class Recording;

namespace detail {
inline constinit thread_local Recording* thread_recording = nullptr;
}  // namespace detail

/// What this thread is written down in, or null.
inline Recording* recording() { return detail::thread_recording; }

/// Has this thread written down in another recording, or in none, for a scope.
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

/// Throws InvalidArgument where this thread is recorded, for what cannot be done again; `advice` is
/// what to do instead.
void refuse_in_recording(std::string_view what, std::string_view advice);

/// Before the host looks at or writes to the memory of a block: throws where this thread is
/// recorded and the values will not always be these.
void check_host_access(void* block, Device device);

}  // namespace eg
