#pragma once

// A thread needs a megabyte of stack before it runs, and Emscripten's pthread_create does not check
// whether the allocation succeeded: without memory it writes to address 0, after which the thread
// never runs or the process aborts. Code that starts a thread therefore allocates the thread's
// memory first, where a failure is an ordinary error, and pthread_create then uses that block.

#include <functional>
#include <thread>

namespace eg {

/// The memory of one thread, used by the next pthread_create call on the current thread. Freed if
/// no call uses it. Throws OutOfMemory with the name `caller`. Does nothing natively, where the
/// system allocates stacks.
class ThreadMemory {
 public:
#if defined(__EMSCRIPTEN__) && EG_THREADS
  explicit ThreadMemory(const char* caller);
  ~ThreadMemory();
#else
  explicit ThreadMemory(const char* /*caller*/) {}
#endif
  ThreadMemory(const ThreadMemory&) = delete;
  ThreadMemory& operator=(const ThreadMemory&) = delete;
};

/// Starts a thread. Throws OutOfMemory with the name `caller` when there is not enough memory or
/// the platform has reached its limit of threads.
std::thread start_thread(const char* caller, std::function<void()> run);

}  // namespace eg
