#include "terminated_thread.h"

#include <bit>

#include <pthread.h>

#include "native_call.h"

#if EG_THREADS

// Of Emscripten's C library.
extern "C" {
void __set_thread_state(pthread_t thread, int is_browser_thread, int is_main_thread, int can_wait);
int emscripten_is_main_browser_thread();
int _emscripten_thread_supports_atomics_wait();
void _emscripten_thread_exit(void* result);
}

// In src/runtime/thread_identity.s.
extern "C" {
void* eg_thread_locals();
void eg_use_thread_locals(void* thread_locals);
}

namespace eg::bindings {
namespace {

// A function of its own, because a compiler may keep the address of thread-local variables.
[[gnu::noinline]] void end_this_thread() {
  detail::call_state.has_ended = true;
  // Otherwise these are copies of the modes of a call that another thread has made.
  if (detail::call_state.javascript_calls == 0) end_modes();
  _emscripten_thread_exit(nullptr);
}

}  // namespace

void* thread_locals() { return eg_thread_locals(); }

void end_terminated(std::uintptr_t thread, void* thread_locals) {
  void* const own = eg_thread_locals();
  const pthread_t self = pthread_self();
  const int is_browser_thread = emscripten_is_main_browser_thread();
  const int can_wait = _emscripten_thread_supports_atomics_wait();
  eg_use_thread_locals(thread_locals);
  __set_thread_state(std::bit_cast<pthread_t>(thread), is_browser_thread, 0, can_wait);
  end_this_thread();
  __set_thread_state(self, is_browser_thread, 1, can_wait);
  eg_use_thread_locals(own);
}

}  // namespace eg::bindings

#endif
