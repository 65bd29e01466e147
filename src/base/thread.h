#pragma once

// How to think about it: a thread needs a megabyte of stack before it runs, and Emscripten's
// pthread_create does not look whether it got one: without memory it writes to address 0, and
// what follows is a thread that never runs or a process that aborts. So whoever starts a thread
// takes its memory first, where a failure is an error like any other, and pthread_create is given
// that.

#include <functional>
#include <thread>

namespace eg {

/// The memory of one thread: pthread_create, called next on this thread, takes it. What is not
/// taken is freed. Throws OutOfMemory that names `caller`. Native threads have their own memory.
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

/// Starts a thread. Throws OutOfMemory that names `caller` where there is no memory for it, or the
/// platform gives no more threads.
std::thread start_thread(const char* caller, std::function<void()> run);

}  // namespace eg
